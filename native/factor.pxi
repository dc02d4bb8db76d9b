# The inverse Cholesky factor W = L⁻¹; twin: numerics/cholesky.py. Rows appended after the first factorization are kept
# in a tail (p, N), as there.

# Factor and inverse are built by halves, so that nearly all of the work is in products of large blocks: BLAS runs those
# faster than LAPACK its dpotrf and dtrtri, which solve with narrow panels. A block (rows, columns) of a
# matrix stored by rows is (columns, rows) to BLAS, and lower triangles are upper ones.

cdef enum:
    LARGE = 512  # rows of a triangle that get pages of their own


cdef Py_ssize_t half(Py_ssize_t n) noexcept nogil:
    """Where to cut n rows in two, at a multiple of the smallest block."""
    return (n // SMALL + 1) // 2 * SMALL


cdef bint inverse_factor(Py_ssize_t n, double *A, Py_ssize_t ld) noexcept nogil:
    """The lower triangle of A (n, n), a covariance, becomes W = L⁻¹; False where it is not positive definite.

    [A11 .; A21 A22] = L Lᵀ has W11 = L11⁻¹, L21 = A21 W11ᵀ, W22 that of A22 - L21 L21ᵀ, and W21 = -W22 L21 W11.
    """
    if n <= SMALL:
        return small_inverse_factor(n, A, ld)
    cdef Py_ssize_t cut = half(n)
    cdef int above = <int> cut, below = <int> (n - cut), stride = <int> ld
    cdef double *A21 = A + cut * ld
    cdef double *A22 = A21 + cut
    cdef double one = 1.0, minus = -1.0
    if not inverse_factor(cut, A, ld):
        return False
    dtrmm("L", "U", "T", "N", &above, &below, &one, A, &stride, A21, &stride)
    dsyrk("U", "T", &below, &above, &minus, A21, &stride, &one, A22, &stride)
    if not inverse_factor(n - cut, A22, ld):
        return False
    dtrmm("L", "U", "N", "N", &above, &below, &minus, A, &stride, A21, &stride)
    dtrmm("R", "U", "N", "N", &above, &below, &one, A22, &stride, A21, &stride)
    return True


cdef void precision(Py_ssize_t n, double *W, Py_ssize_t ld) noexcept nogil:
    """The lower triangle W (n, n) becomes that of Wᵀ W.

    P11 = W11ᵀ W11 + W21ᵀ W21, P21 = W22ᵀ W21, P22 = W22ᵀ W22.
    """
    if n <= SMALL:
        small_precision(n, W, ld)
        return
    cdef Py_ssize_t cut = half(n)
    cdef int above = <int> cut, below = <int> (n - cut), stride = <int> ld
    cdef double *W21 = W + cut * ld
    cdef double one = 1.0
    precision(cut, W, ld)
    dsyrk("U", "N", &above, &below, &one, W21, &stride, &one, W, &stride)
    dtrmm("R", "U", "T", "N", &above, &below, &one, W21 + cut, &stride, W21, &stride)
    precision(n - cut, W21 + cut, ld)


cdef check_known(const double[::1] known, Py_ssize_t n):
    """ValueError unless there is a known noise for each of n observations, or None for all."""
    if known is not None and known.shape[0] != n:
        raise ValueError(f"the noise must be known of all {n} observations or of none; got {known.shape[0]}")


cdef triangle(Py_ssize_t n):
    """Zeros (n, n) for a lower triangle. What is never written takes no memory: nearly half of a large one.

    NumPy's own zeros of that size come in huge pages, in which each row of the triangle fills up the square.
    """
    if n < LARGE:
        return np.zeros((n, n))
    private = {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
    try:
        return np.frombuffer(mmap.mmap(-1, times(times(n, n), sizeof(double)), **private)).reshape(n, n)
    except (OSError, OverflowError, ValueError):
        raise MemoryError from None


def covariance_factor(int kernel, const double[:, ::1] X, const double[::1] lengthscales, double signal,
                      double diagonal, const double[::1] known=None):
    """W (n, n) of the covariance of X (n, d), on its diagonal ``diagonal`` and, unless it is None, ``known`` (n,).

    None if it is not positive definite.
    """
    cdef Py_ssize_t d = lengthscales.shape[0], n = check_columns(X, d), i
    check_kernel(kernel)
    check_known(known, n)
    W = triangle(n)
    cdef double[:, ::1] W_view = W
    cdef double *U = room(plus(times(d, plus(n, 1)), n))
    if U == NULL:
        raise MemoryError
    cdef double *u = U + d * n
    cdef double *h = u + d
    cdef bint good
    with nogil:
        scaled_columns(n, d, &X[0, 0], &lengthscales[0], U)
        for i in range(n):
            scaled_row(d, &X[i, 0], &lengthscales[0], u)
            kernel_row(kernel, i, d, u, U, n, signal, &W_view[i, 0], h)
            W_view[i, i] = diagonal if known is None else diagonal + known[i]
        good = inverse_factor(n, &W_view[0, 0], n)
        free(U)
    return W if good else None


cdef void precision_products(Py_ssize_t n, Py_ssize_t p, const double *base, const double *tail, Py_ssize_t m,
                             const double *K, double *norms, double *out, double *zeros) noexcept nogil:
    """|W k|² (m,) and Wᵀ W k (m, N) for covariances K (m, N), in one pass over the factor; ``zeros`` is room for N."""
    cdef Py_ssize_t N = n + p
    memset(zeros, 0, N * sizeof(double))
    memset(norms, 0, m * sizeof(double))
    memset(out, 0, m * N * sizeof(double))
    whiten_and_back(n, 0, base, n, m, K, N, norms, out, zeros)
    if p:
        whiten_and_back(p, n, tail, N, m, K, N, norms, out, zeros)


def append(const double[:, ::1] base, const double[:, ::1] tail, const double[::1] k, double variance,
           double least_pivot):
    """The tail (p + 1, N + 1) with one row more, for covariances k (N,) and a variance; and its pivot before a lift."""
    cdef Py_ssize_t n = base.shape[0], p = tail.shape[0], N = n + p, i
    if base.shape[1] != n or tail.shape[1] != N or k.shape[0] != N:
        raise ValueError("the factor and the new row differ in size")
    grown = np.zeros((p + 1, N + 1))
    cdef double[:, ::1] view = grown
    cdef double norm = 0.0, pivot, root
    cdef double *product = room(times(2, N))
    if product == NULL:
        raise MemoryError
    with nogil:
        precision_products(n, p, &base[0, 0], &tail[0, 0] if p else NULL, 1, &k[0], &norm, product, product + N)
        pivot = variance - norm
        root = sqrt(max(pivot, least_pivot * variance))
        for i in range(p):
            memcpy(&view[i, 0], &tail[i, 0], N * sizeof(double))
        for i in range(N):
            view[p, i] = product[i] / -root
        view[p, N] = 1.0 / root
        free(product)
    return grown, pivot
