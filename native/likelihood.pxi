# The log posterior of a Gaussian process's hyperparameters, with gradient and curvature; twins: log_likelihood in
# surrogates/gp_likelihood.py, _search in surrogates/gp_fit.py.

cdef enum:
    # With so much data one evaluation takes milliseconds, and looking for Ctrl-C after each of them costs nothing.
    SLOW_FROM = 500


cdef double *slopes(double *K, Py_ssize_t n, Py_ssize_t i) noexcept nogil:
    """Room for the i numbers h of row i where no lower triangle reaches: the end of row n - 1 - i of K (n, n)."""
    return K + (n - 1 - i) * n + (n - i)


cdef class HyperPosterior(Objective):
    """-(log p(y | X, θ) + log p(θ)) of standardized y, to be minimized over θ = log ℓ, log σ_f² [, log σ_n²].

    ``noise`` is σ_n² when it is fixed, NaN when θ ends with its logarithm; ``mean_std`` is NaN for a mean fixed at 0.
    The prior is a normal of θ with a center (p,) and a precision (p, p), zero where there is none. ``known`` is D (n,), the
    variances that the noise of each observation is known to have beyond σ_n², or None. ``groups`` (d,) says which ℓ of θ
    each column has, None that each has its own. As an :class:`Objective` its values are per observation.
    """

    cdef Py_ssize_t n, d, lengths
    cdef int kernel
    cdef double noise, mean_std
    cdef const double[:, ::1] X, prior
    cdef const double[::1] y, center, known
    cdef const Py_ssize_t[::1] groups
    cdef object interruption

    def __cinit__(self, int kernel, const double[:, ::1] X, const double[::1] y, double noise, double mean_std,
                  const double[::1] center, const double[:, ::1] precision, const double[::1] known=None,
                  const Py_ssize_t[::1] groups=None):
        self.n, self.d, self.dim = X.shape[0], X.shape[1], center.shape[0]
        self.lengths = self.dim - (2 if noise != noise else 1)
        if self.n == 0 or y.shape[0] != self.n or not self.dim == precision.shape[0] == precision.shape[1]:
            raise ValueError("the data, or the parts of the prior, differ in size")
        check_known(known, self.n)
        if groups is None and self.lengths != self.d:
            raise ValueError(f"{self.d} lengthscales, the signal and an inferred noise do not make {self.dim} numbers")
        if groups is not None and (groups.shape[0] != self.d or not np.isin(groups, range(self.lengths)).all()):
            raise ValueError(f"groups must give each of {self.d} columns one of {self.lengths} lengthscales")
        self.kernel, self.X, self.y, self.noise, self.mean_std = check_kernel(kernel), X, y, noise, mean_std
        self.center, self.prior, self.known, self.groups = center, precision, known, groups

    def lbfgs(self, const double[:, ::1] starts, const double[::1] lower, const double[::1] upper, settings):
        """θ (p,) at the best of the minima that L-BFGS reaches from ``starts`` (s, p), and the mean there."""
        X, f, _ = minimize(self, starts, lower, upper, np.ones(self.dim, dtype=np.uint8), 1.0, settings)
        best = X[int(np.argmin(f))]
        return best, self.log_likelihood(best)[2]

    def newton(self, const double[:, ::1] starts, const double[::1] lower, const double[::1] upper, settings):
        """θ (p,) at the best of the minima that Newton's method reaches from ``starts`` (s, p), and the mean there."""
        cdef Py_ssize_t i, p = self.dim, count = check_columns(starts, p), max_values = settings.max_values
        cdef double gain_tol = settings.gain_tol, longest = settings.longest
        cdef bint good = lower.shape[0] == p and upper.shape[0] == p and count > 0
        if not good:
            raise ValueError("the box and the starts differ in size")
        X, f, means = np.minimum(np.maximum(starts, lower), upper), np.empty(count), np.empty(count)
        cdef double[:, ::1] X_view = X
        cdef double[::1] f_view = f
        cdef double[::1] mean_view = means
        with nogil:
            for i in range(count):
                good = good and newton_from(self, &X_view[i, 0], &lower[0], &upper[0], gain_tol, max_values, longest,
                                            &f_view[i], &mean_view[i])
        if not good:
            raise self.failure()
        best = int(np.argmin(f))
        return X[best], float(means[best])

    cdef bint evaluate(self, Py_ssize_t m, const double *X, double *f, double *G) noexcept nogil:
        cdef Py_ssize_t i, c, p = self.dim
        cdef double mean
        for i in range(m):
            if not self.nats(X + i * p, f + i, G + i * p, &mean, NULL):
                return False
            f[i] /= self.n
            for c in range(p):
                G[i * p + c] /= self.n
        return True

    cdef bint nats(self, const double *theta, double *f, double *g, double *mean, double *B) noexcept nogil:
        """The negative log posterior, its gradient (p,), the mean and, unless B is NULL, the curvature (p, p)."""
        cdef Py_ssize_t c, k, p = self.dim
        cdef double slope
        if not self.log_likelihood_into(theta, f, g, mean, B):
            return False
        if self.n >= SLOW_FROM and self.is_interrupted():
            return False
        f[0] = -f[0]
        for c in range(p):
            slope = 0.0
            for k in range(p):
                slope += self.prior[c, k] * (theta[k] - self.center[k])
                if B != NULL:
                    B[c * p + k] += self.prior[c, k]
            f[0] += 0.5 * slope * (theta[c] - self.center[c])
            g[c] = slope - g[c]
        return True

    cdef bint is_interrupted(self) noexcept with gil:
        """Whether a signal that came in meanwhile raises, as Ctrl-C does: that is then the :meth:`failure`."""
        self.interruption = None
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            self.interruption = error
        return self.interruption is not None

    cdef failure(self):
        return MemoryError() if self.interruption is None else self.interruption

    cdef bint log_likelihood_into(self, const double *theta, double *value, double *gradient, double *mean,
                                  double *information) noexcept nogil:
        """log p(y | X, θ), its gradient (p,), the best constant mean and, unless it is NULL, the average information.

        -inf and zeros where K_y is not positive definite; False without memory.
        """
        cdef Py_ssize_t n = self.n, d = self.d, s = self.lengths, i, c
        cdef double *K = room(plus(times(n, plus(n, plus(d + 3, self.dim))), plus(d, plus(d, self.dim))))
        if K == NULL:
            return False
        cdef double *U = K + n * n
        cdef double *alpha = U + n * d
        cdef double *row = alpha + 2 * n
        cdef double *V = row + n
        cdef double *lengthscales = V + n * self.dim
        cdef double *u = lengthscales + d
        cdef double signal = exp(theta[s]), noise = self.noise if self.noise == self.noise else exp(theta[s + 1])
        cdef double half_log_det = 0.0, quadratic, square = 0.0, trace = 0.0, beyond = 0.0
        cdef const double *known = &self.known[0] if self.known is not None else NULL
        for c in range(self.dim):
            gradient[c] = 0.0
        for c in range(self.dim * self.dim if information != NULL else 0):
            information[c] = 0.0
        for c in range(d):
            lengthscales[c] = exp(theta[self.length_of(c)])
        scaled_columns(n, d, &self.X[0, 0], lengthscales, U)
        for i in range(n):
            scaled_row(d, &self.X[i, 0], lengthscales, u)
            kernel_row(self.kernel, i, d, u, U, n, signal, K + i * n, slopes(K, n, i))
            K[i * n + i] = signal + noise if known == NULL else signal + (noise + known[i])
        if not inverse_factor(n, K, n):
            value[0], mean[0] = -INFINITY, 0.0
            free(K)
            return True
        for i in range(n):
            half_log_det -= log(K[i * n + i])
        mean[0] = self.solved(K, alpha)
        quadratic = dot(n, alpha, &self.y[0])
        for i in range(n):
            quadratic -= mean[0] * alpha[i]
        value[0] = -0.5 * quadratic - half_log_det - 0.5 * n * log(2.0 * M_PI)
        if self.mean_std == self.mean_std:
            value[0] -= 0.5 * (mean[0] / self.mean_std) ** 2
        if information != NULL:
            self.average_information(K, U, lengthscales, alpha, noise, mean[0], V, u, information)
        precision(n, K, n)
        for i in range(n):
            square += alpha[i] * alpha[i]
            trace += K[i * n + i]
            if known != NULL:
                beyond += known[i] * (alpha[i] * alpha[i] - K[i * n + i])
            scaled_row(d, &self.X[i, 0], lengthscales, u)
            likelihood_weights(i, alpha[i], alpha, K + i * n, slopes(K, n, i), row)
            for c in range(d if self.groups is not None else 0):
                spreads(i, 1, u + c, U + c * n, n, row, gradient + self.groups[c])
            if self.groups is None:
                spreads(i, d, u, U, n, row, gradient)
        gradient[s] = 0.5 * (quadratic - noise * square - n + noise * trace - beyond)
        if self.dim > s + 1:
            gradient[s + 1] = 0.5 * noise * (square - trace)
        free(K)
        return True

    cdef Py_ssize_t length_of(self, Py_ssize_t column) noexcept nogil:
        """Which ℓ of θ a column has."""
        return column if self.groups is None else self.groups[column]

    cdef double solved(self, double *W, double *alpha) noexcept nogil:
        """The best constant mean m, returned, and α = K_y⁻¹ (y - m) (n,) with K_y⁻¹ 1 behind it, from the factor."""
        cdef Py_ssize_t n = self.n, i
        cdef int size = <int> n, step = 1
        cdef double *ones = alpha + n
        cdef double mean = 0.0
        for i in range(n):
            alpha[i], ones[i] = self.y[i], 1.0
        for i in range(2):
            dtrmv("U", "T", "N", &size, W, &size, alpha + i * n, &step)
            dtrmv("U", "N", "N", &size, W, &size, alpha + i * n, &step)
        if self.mean_std == self.mean_std:
            mean = dot(n, ones, &self.y[0]) / self.spread(ones)
        for i in range(n):
            alpha[i] -= mean * ones[i]
        return mean

    cdef double spread(self, const double *ones) noexcept nogil:
        """1ᵀK_y⁻¹1 + 1/τ², infinite where the mean is fixed."""
        cdef double total = 1.0 / (self.mean_std * self.mean_std)
        cdef Py_ssize_t i
        if self.mean_std != self.mean_std:
            return INFINITY
        for i in range(self.n):
            total += ones[i]
        return total

    cdef void average_information(self, double *W, const double *U, const double *lengthscales, const double *alpha,
                                  double noise, double mean, double *V, double *u,
                                  double *information) noexcept nogil:
        """½ αᵀ K_i K_y⁻¹ K_j α (p, p), less what the mean takes up; V (p, n) is for the columns K_j α, u has p."""
        cdef Py_ssize_t n = self.n, d = self.d, s = self.lengths, p = self.dim, i, j, c
        cdef int size = <int> n, columns = <int> p
        cdef double one = 1.0, spread = self.spread(alpha + n)
        memset(V, 0, p * n * sizeof(double))
        for i in range(n):
            scaled_row(d, &self.X[i, 0], lengthscales, u)
            # Of earlier rows the products are still growing: this row's own sums are kept in the information's first row.
            for c in range(s):
                information[c] = 0.0
            for c in range(d if self.groups is not None else 0):
                j = self.groups[c]
                lengthscale_products(i, 1, u + c, U + c * n, n, slopes(W, n, i), alpha[i], alpha, V + j * n,
                                     information + j)
            if self.groups is None:
                lengthscale_products(i, d, u, U, n, slopes(W, n, i), alpha[i], alpha, V, information)
            for c in range(s):
                V[c * n + i] += information[c]
            V[s * n + i] = self.y[i] - mean - (noise if self.known is None else noise + self.known[i]) * alpha[i]
            if p > s + 1:
                V[(s + 1) * n + i] = noise * alpha[i]
        # Each row of V times K_y⁻¹ 1 first, because whitening overwrites V.
        for i in range(p):
            u[i] = dot(n, V + i * n, alpha + n)
        dtrmm("L", "U", "T", "N", &size, &columns, &one, W, &size, V, &size)
        for i in range(p):
            for j in range(p):
                information[i * p + j] = 0.5 * (dot(n, V + i * n, V + j * n) - u[i] * u[j] / spread)

    def log_likelihood(self, const double[::1] theta):
        """log p(y | X, θ), its gradient (p,), the mean, and the average information (p, p)."""
        if theta.shape[0] != self.dim:
            raise ValueError(f"theta must have {self.dim} entries; got {theta.shape[0]}")
        gradient, information = np.empty(self.dim), np.empty((self.dim, self.dim))
        cdef double[::1] gradient_view = gradient
        cdef double[:, ::1] information_view = information
        cdef double value = 0.0, mean = 0.0
        cdef bint good
        with nogil:
            good = self.log_likelihood_into(&theta[0], &value, &gradient_view[0], &mean, &information_view[0, 0])
        if not good:
            raise MemoryError
        return value, gradient, mean, information
