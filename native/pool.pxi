# Candidates that follow a conditioned model by rank one; twin: Block in surrogates/gp_pool.py.

def pool_told(int kernel, const double[:, ::1] C, const double[::1] x, const double[::1] lengthscales, double signal,
              const double[:, ::1] cross, const double[:, ::1] later, const double[::1] weights, double z,
              const double[::1] mean, const double[::1] variance):
    """Candidates C (m, d) after the observation x (d,): covariances (p + 1, m) with later ones; mean, variance (m,).

    ``cross`` (m, n) and ``later`` (p, m) are covariances with the n + p observations before it. The last row of the
    factor (at least n + p + 1,) is in ``weights``, and z is the last of the whitened data.
    """
    cdef Py_ssize_t d = lengthscales.shape[0], m = check_columns(C, d), n = cross.shape[1], p = later.shape[0], i
    check_kernel(kernel)
    if (x.shape[0], cross.shape[0], mean.shape[0], variance.shape[0]) != (d, m, m, m) or (
        later.shape[1] != m or weights.shape[0] < plus(plus(n, p), 1) or m == 0 or n == 0
    ):
        raise ValueError("the candidates, their covariances and the new row differ in size, or there are none")
    if m > INT_MAX // 4 or n > INT_MAX // 4 or p > INT_MAX // 4:
        raise ValueError(f"sizes must be those that BLAS can count; got {m} candidates and {n} + {p} observations")
    grown, means, variances = np.empty((p + 1, m)), np.empty(m), np.empty(m)
    cdef double[:, ::1] rows = grown
    cdef double[::1] mean_view = means
    cdef double[::1] variance_view = variances
    cdef double *work = room(plus(times(m, plus(d, 2)), d))
    if work == NULL:
        raise MemoryError
    cdef double *c = work
    cdef double *h = c + m
    cdef double *U = h + m
    cdef double *u = U + times(m, d)
    cdef double *near
    cdef int count = <int> m, first = <int> n, after = <int> p, step = 1
    cdef double one = 1.0, zero = 0.0
    with nogil:
        if p:
            memcpy(&rows[0, 0], &later[0, 0], p * m * sizeof(double))
        near = &rows[0, 0] + p * m
        scaled_columns(m, d, &C[0, 0], &lengthscales[0], U)
        scaled_row(d, &x[0], &lengthscales[0], u)
        kernel_row(kernel, m, d, u, U, m, signal, near, h)
        dgemv("T", &first, &count, &one, <double *> &cross[0, 0], &first, <double *> &weights[0], &step, &zero, c, &step)
        if p:
            dgemv("N", &count, &after, &one, <double *> &later[0, 0], &count, <double *> &weights[0] + n, &step, &one,
                  c, &step)
        for i in range(m):
            c[i] += weights[n + p] * near[i]
            mean_view[i] = mean[i] + z * c[i]
            variance_view[i] = variance[i] - c[i] * c[i]
        free(work)
    return grown, means, variances
