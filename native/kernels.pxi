# Kernels between points; twin: Hyperparameters.cross in surrogates/gp_fit.py.

KERNELS = {"matern52": 0, "matern32": 1, "se": 2}


cdef int check_kernel(int kernel) except -1:
    if not 0 <= kernel < len(KERNELS):
        raise ValueError(f"kernel must be one of the numbers in KERNELS; got {kernel}")
    return kernel


cdef double *room(Py_ssize_t numbers) noexcept nogil:
    """Memory for so many numbers, or NULL where there is not so much, or where ``numbers`` is no size."""
    return <double *> room_for(numbers, sizeof(double))


cdef void scaled_columns(Py_ssize_t n, Py_ssize_t d, const double *X, const double *lengthscales, double *U) noexcept nogil:
    """U (d, n): the points X (n, d) by columns, each over its lengthscale."""
    cdef Py_ssize_t i, c
    for c in range(d):
        for i in range(n):
            U[c * n + i] = X[i * d + c] / lengthscales[c]


cdef void scaled_row(Py_ssize_t d, const double *x, const double *lengthscales, double *u) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(d):
        u[c] = x[c] / lengthscales[c]


def cross(int kernel, const double[:, ::1] A, const double[:, ::1] B, const double[::1] lengthscales, double signal):
    """σ_f² k and σ_f² h (m, n) between the rows of A (m, d) and B (n, d)."""
    cdef Py_ssize_t d = lengthscales.shape[0], m = check_columns(A, d), n = check_columns(B, d), i
    check_kernel(kernel)
    k, h = np.empty((m, n)), np.empty((m, n))
    cdef double[:, ::1] k_view = k
    cdef double[:, ::1] h_view = h
    cdef double *U = room(times(d, plus(n, 1)))
    if U == NULL:
        raise MemoryError
    cdef double *u = U + d * n
    with nogil:
        scaled_columns(n, d, &B[0, 0], &lengthscales[0], U)
        for i in range(m):
            scaled_row(d, &A[i, 0], &lengthscales[0], u)
            kernel_row(kernel, n, d, u, U, n, signal, &k_view[i, 0], &h_view[i, 0])
        free(U)
    return k, h
