# Acquisitions on a posterior; twins: acquisitions/improvement.py, confidence.py and numerics/special.py.

ACQUISITIONS = {"LogEI": 0, "EI": 1, "PI": 2, "UCB": 3}

cdef enum:
    LOG_EI = 0
    EI = 1
    PI = 2
    UCB = 3

cdef double LOG_SQRT_2PI = 0.5 * log(2.0 * M_PI)
cdef double SQRT_HALF = sqrt(0.5)


cdef void log_h(double z, double *value, double *mass, double *density) noexcept nogil:
    """log h(z) with h = φ + z Φ, and the ratios Φ/h and φ/h.

    Below -2 by the continued fraction of the Mills ratio, M(x) = 1/(x + T), T = 1/(x + 2/(x + 3/(x + ...))): then
    h/φ = 1 - x M(x) = T M(x), a product in which nothing cancels. The number of levels was found by trial: what further
    ones add is below rounding for every x from 2 on.
    """
    cdef double x, t, phi, capital
    cdef int level
    if not z < -2.0:
        phi = exp(-0.5 * z * z - LOG_SQRT_2PI)
        capital = 0.5 * erfc(-SQRT_HALF * z)
        t = phi + z * capital
        value[0], mass[0], density[0] = log(t), capital / t, phi / t
        return
    x, t = -z, 0.0
    for level in range(<int> (6.0 + (70.0 + 260.0 / x) / x), 0, -1):
        t = level / (x + t)
    value[0] = -0.5 * z * z - LOG_SQRT_2PI + log(t / (x + t))
    mass[0], density[0] = 1.0 / t, (x + t) / t


cdef class Improvement(Objective):
    """An acquisition on a posterior, to be maximized. ``parameter`` is ξ of LogEI, EI and PI, β of UCB."""

    cdef Posterior posterior
    cdef int kind
    cdef double parameter, incumbent

    def __cinit__(self, Posterior posterior not None, int kind, double parameter, double incumbent):
        if kind not in ACQUISITIONS.values():
            raise ValueError(f"kind must be one of the numbers in ACQUISITIONS; got {kind}")
        self.posterior, self.kind, self.incumbent = posterior, kind, incumbent
        self.parameter = sqrt(parameter) if kind == UCB else parameter
        self.dim = posterior.dim

    cdef bint evaluate(self, Py_ssize_t m, const double *X, double *f, double *G) noexcept nogil:
        cdef Py_ssize_t d = self.dim, i, c
        cdef double *mean = room(times(m, plus(d, 2)))
        if mean == NULL:
            return False
        cdef double *std = mean + m
        cdef double *by_std = std + m
        cdef double mean_weight, std_weight
        cdef bint good = self.posterior.predict_with_gradient_into(m, X, mean, std, G, by_std)
        for i in range(m if good else 0):
            self.pointwise(mean[i], std[i], f + i, &mean_weight, &std_weight)
            for c in range(d):
                G[i * d + c] = mean_weight * G[i * d + c] + std_weight * by_std[i * d + c]
        free(mean)
        return good

    cdef bint value_into(self, Py_ssize_t m, const double *X, double *f) noexcept nogil:
        """Values f (m,) at X (m, d)."""
        cdef Py_ssize_t i
        cdef double *mean = room(times(2, m))
        if mean == NULL:
            return False
        cdef double by_mean, by_std
        cdef bint good = self.posterior.values_into(m, X, mean, mean + m)
        for i in range(m if good else 0):
            self.pointwise(mean[i], mean[m + i], f + i, &by_mean, &by_std)
        free(mean)
        return good

    def value(self, const double[:, ::1] X):
        """Values (m,) at X (m, dim)."""
        f = np.empty(check_columns(X, self.dim))
        cdef double[::1] f_view = f
        cdef bint good
        with nogil:
            good = self.value_into(X.shape[0], &X[0, 0], &f_view[0])
        if not good:
            raise self.failure()
        return f

    def of(self, const double[::1] mean, const double[::1] std):
        """Values (m,) where the model predicts ``mean`` and ``std`` (m,)."""
        cdef Py_ssize_t m = mean.shape[0], i
        if std.shape[0] != m:
            raise ValueError(f"means and stds must be as many; got {m} and {std.shape[0]}")
        f = np.empty(m)
        cdef double[::1] f_view = f
        with nogil:
            for i in range(m):
                f_view[i] = self.ranked(mean[i], std[i])
        return f

    cdef double ranked(self, double mean, double std) noexcept nogil:
        """α where the model predicts ``mean`` and ``std``, to 1e-13: candidates are only ranked by it.

        From z = -5 on log(φ + z Φ) is good enough, and costs a tenth of the continued fraction.
        """
        cdef double z = (self.incumbent - self.parameter - mean) / std, value, by_mean, by_std
        if self.kind == LOG_EI and -5.0 < z < -2.0:
            return log(std) + log(exp(-0.5 * z * z - LOG_SQRT_2PI) + 0.5 * z * erfc(-SQRT_HALF * z))
        self.pointwise(mean, std, &value, &by_mean, &by_std)
        return value

    cdef void pointwise(self, double mean, double std, double *value, double *by_mean, double *by_std) noexcept nogil:
        """α, ∂α/∂μ and ∂α/∂σ where the model predicts ``mean`` and ``std``."""
        cdef double z = (self.incumbent - self.parameter - mean) / std, log_value, mass, density, phi
        if self.kind == LOG_EI:
            log_h(z, &log_value, &mass, &density)
            value[0], by_mean[0], by_std[0] = log(std) + log_value, -mass / std, density / std
        elif self.kind == EI:
            log_h(z, &log_value, &mass, &density)
            value[0] = std * exp(log_value)
            by_mean[0], by_std[0] = -0.5 * erfc(-SQRT_HALF * z), exp(-0.5 * z * z - LOG_SQRT_2PI)
        elif self.kind == PI:
            phi = exp(-0.5 * z * z - LOG_SQRT_2PI)
            value[0], by_mean[0], by_std[0] = 0.5 * erfc(-SQRT_HALF * z), -phi / std, -z * phi / std
        else:
            value[0], by_mean[0], by_std[0] = self.parameter * std - mean, -1.0, self.parameter
