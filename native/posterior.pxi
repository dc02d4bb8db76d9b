# Mean and standard deviation of a Gaussian process, with gradients; twin: GPModel in surrogates/gp.py.

cdef enum:
    BLOCK = 256


cdef class Posterior:
    """A Gaussian process conditioned on N observations: n rows of the factor in ``base``, p appended in ``tail``."""

    cdef readonly Py_ssize_t dim
    cdef Py_ssize_t n, p
    cdef int kernel
    cdef double signal, shift, scale, least_variance
    cdef const double[::1] lengthscales
    cdef const double[:, ::1] base
    cdef const double[:, ::1] tail
    cdef const double[::1] alpha
    cdef double[:, ::1] columns

    def __cinit__(self, int kernel, const double[:, ::1] X, const double[::1] lengthscales, double signal,
                  const double[:, ::1] base, const double[:, ::1] tail, const double[::1] alpha, double shift,
                  double scale, double least_variance):
        if (base.shape[1], tail.shape[1], alpha.shape[0], X.shape[0]) != (base.shape[0],) + 3 * (
            base.shape[0] + tail.shape[0],
        ) or lengthscales.shape[0] != X.shape[1] or X.shape[0] == 0 or base.shape[0] == 0:
            raise ValueError("the factor, the points and their weights differ in size, or there are none")
        if X.shape[0] > INT_MAX // 4 or X.shape[1] > INT_MAX // 4:
            raise ValueError(f"sizes must be those that BLAS can count; got {X.shape[0]} points of {X.shape[1]} columns")
        self.n, self.p, self.dim = base.shape[0], tail.shape[0], X.shape[1]
        self.kernel, self.signal, self.shift, self.scale = check_kernel(kernel), signal, shift, scale
        self.least_variance = least_variance
        self.lengthscales, self.base, self.tail, self.alpha = lengthscales, base, tail, alpha
        self.columns = np.empty((self.dim, self.n + self.p))
        scaled_columns(self.n + self.p, self.dim, &X[0, 0], &lengthscales[0], &self.columns[0, 0])

    cdef bint predict_into(self, Py_ssize_t m, const double *X, double *mean, double *std, double *cross) noexcept nogil:
        """Mean and variance (m,) of standardized y at X (m, d), through one triangular product a block.

        The variance is the signal less a sum of squares. ``cross`` takes the covariances (m, N) with the observations;
        NULL for who does not want them.
        """
        cdef Py_ssize_t N = self.n + self.p, d = self.dim, first = 0, i, count = min(m, <Py_ssize_t> BLOCK)
        cdef double *work = room(plus(times(count, N + self.p), N + d))
        if work == NULL:
            return False
        cdef double *K = work
        cdef double *tails = work + count * N
        cdef double *h = tails + count * self.p
        cdef double *u = h + N
        while first < m:
            count = min(m - first, <Py_ssize_t> BLOCK)
            for i in range(count):
                scaled_row(d, X + (first + i) * d, &self.lengthscales[0], u)
                kernel_row(self.kernel, N, d, u, &self.columns[0, 0], N, self.signal, K + i * N, h)
                mean[first + i] = dot(N, K + i * N, &self.alpha[0])
            if cross != NULL:
                memcpy(cross + first * N, K, count * N * sizeof(double))
            self.whiten_in_place(count, K, tails)
            for i in range(count):
                std[first + i] = (
                    self.signal - dot(self.n, K + i * N, K + i * N)
                    - dot(self.p, tails + i * self.p, tails + i * self.p)
                )
            first += count
        free(work)
        return True

    cdef void whiten_in_place(self, Py_ssize_t m, double *K, double *tails) noexcept nogil:
        """The first n columns of K (m, N) become those of K Wᵀ; ``tails`` (m, p) takes those of the tail."""
        cdef int n = <int> self.n, p = <int> self.p, N = n + p, count = <int> m, step = 1
        cdef double one = 1.0, zero = 0.0
        if p:
            dgemm("T", "N", &p, &count, &N, &one, <double *> &self.tail[0, 0], &N, K, &N, &zero, tails, &p)
        if m == 1:  # half the time of a product with a matrix of one column
            dtrmv("U", "T", "N", &n, <double *> &self.base[0, 0], &n, K, &step)
        else:
            dtrmm("L", "U", "T", "N", &n, &count, &one, <double *> &self.base[0, 0], &n, K, &N)

    cdef bint values_into(self, Py_ssize_t m, const double *X, double *mean, double *std) noexcept nogil:
        """Mean and std (m,) at X (m, d), in the units of y."""
        cdef Py_ssize_t i
        if not self.predict_into(m, X, mean, std, NULL):
            return False
        for i in range(m):
            mean[i] = self.shift + self.scale * mean[i]
            std[i] = self.root(std[i])
        return True

    cdef bint predict_with_gradient_into(self, Py_ssize_t m, const double *X, double *mean, double *std,
                                         double *mean_gradient, double *std_gradient) noexcept nogil:
        """Mean and std (m,) and their gradients (m, d) at X (m, d): the points of a climb, one pass over the factor."""
        cdef Py_ssize_t N = self.n + self.p, d = self.dim, first = 0, i, j, c, at, count = min(m, <Py_ssize_t> BLOCK)
        cdef double *work = room(plus(times(count, plus(times(3, N), d + 1)), N))
        if work == NULL:
            return False
        cdef double *K = work
        cdef double *H = K + count * N
        cdef double *product = H + count * N
        cdef double *U = product + count * N
        cdef double *norms = U + count * d
        cdef double *zeros = norms + count
        while first < m:
            count = min(m - first, <Py_ssize_t> BLOCK)
            for i in range(count):
                scaled_row(d, X + (first + i) * d, &self.lengthscales[0], U + i * d)
                kernel_row(self.kernel, N, d, U + i * d, &self.columns[0, 0], N, self.signal, K + i * N, H + i * N)
            precision_products(self.n, self.p, &self.base[0, 0], &self.tail[0, 0] if self.p else NULL, count, K, norms,
                               product, zeros)
            for i in range(count):
                at = first + i
                mean[at] = self.shift + self.scale * dot(N, K + i * N, &self.alpha[0])
                std[at] = self.root(self.signal - norms[i])
                # ∂μ/∂x = Σ_j α_j ∂k_j/∂x and ∂σ²/∂x = -2 Σ_j (K_y⁻¹ k)_j ∂k_j/∂x, with ∂k/∂x = -h (x - x_j) / ℓ².
                for j in range(N):
                    product[i * N + j] *= H[i * N + j]
                    H[i * N + j] *= self.alpha[j]
                pulls(N, d, U + i * d, &self.columns[0, 0], N, H + i * N, mean_gradient + at * d)
                pulls(N, d, U + i * d, &self.columns[0, 0], N, product + i * N, std_gradient + at * d)
                for c in range(d):
                    mean_gradient[at * d + c] *= self.scale / self.lengthscales[c]
                    std_gradient[at * d + c] *= -self.scale / self.lengthscales[c] * (self.scale / std[at])
            first += count
        free(work)
        return True

    cdef double root(self, double variance) noexcept nogil:
        return self.scale * sqrt(max(variance, self.least_variance * self.signal))

    def predict(self, const double[:, ::1] X):
        """Mean and std (m,) at X (m, d)."""
        cdef Py_ssize_t m = check_columns(X, self.dim)
        mean, std = np.empty(m), np.empty(m)
        cdef double[::1] mean_view = mean
        cdef double[::1] std_view = std
        cdef bint good
        with nogil:
            good = self.values_into(m, &X[0, 0], &mean_view[0], &std_view[0])
        if not good:
            raise MemoryError
        return mean, std

    def pool(self, const double[:, ::1] X):
        """Covariances (m, N) of X (m, d) with the observations; mean and variance (m,) there, of standardized y."""
        cdef Py_ssize_t m = check_columns(X, self.dim)
        cross, mean, variance = np.empty((m, self.n + self.p)), np.empty(m), np.empty(m)
        cdef double[:, ::1] cross_view = cross
        cdef double[::1] mean_view = mean
        cdef double[::1] variance_view = variance
        cdef bint good
        with nogil:
            good = self.predict_into(m, &X[0, 0], &mean_view[0], &variance_view[0], &cross_view[0, 0])
        if not good:
            raise MemoryError
        return cross, mean, variance

    def predict_with_gradient(self, const double[:, ::1] X):
        """Mean and std (m,), and their gradients (m, d), at X (m, d)."""
        cdef Py_ssize_t m = check_columns(X, self.dim)
        mean, std = np.empty(m), np.empty(m)
        by_mean, by_std = np.empty((m, self.dim)), np.empty((m, self.dim))
        cdef double[::1] mean_view = mean
        cdef double[::1] std_view = std
        cdef double[:, ::1] by_mean_view = by_mean
        cdef double[:, ::1] by_std_view = by_std
        cdef bint good
        with nogil:
            good = self.predict_with_gradient_into(m, &X[0, 0], &mean_view[0], &std_view[0], &by_mean_view[0, 0],
                                                   &by_std_view[0, 0])
        if not good:
            raise MemoryError
        return mean, std, by_mean, by_std


cdef double dot(Py_ssize_t n, const double *a, const double *b) noexcept nogil:
    cdef int size = <int> n, one = 1
    return ddot(&size, <double *> a, &one, <double *> b, &one)
