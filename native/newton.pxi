# Box-constrained minimization with curvature; twin: numerics/newton.py, step by step the same search.

cdef double DAMPED_BELOW = 0.2
cdef double AT_BOUND = 1e-6


cdef double promised_step(Py_ssize_t p, const double *x, const double *g, const double *B, const double *lower,
                          const double *upper, double longest, double *step, double *work) noexcept nogil:
    """-B⁻¹ g (p,) on the coordinates that no bound holds, at most ``longest`` in each; returns the gain before that.

    ``work`` has p² + p numbers. A B that is not positive definite promises nothing.
    """
    cdef Py_ssize_t i, j
    cdef double *A = work
    cdef double *is_free = work + p * p
    cdef double gain = 0.0, most = 1e-300
    cdef int size = <int> p, one = 1, info = 0
    for i in range(p):
        is_free[i] = not ((x[i] - lower[i] <= AT_BOUND and g[i] > 0.0) or (upper[i] - x[i] <= AT_BOUND and g[i] < 0.0))
        step[i] = -g[i] * is_free[i]
    # A coordinate that a bound holds keeps its place, with a curvature of one and no slope.
    for i in range(p):
        for j in range(p):
            A[i * p + j] = B[i * p + j] * is_free[i] * is_free[j] if i != j or is_free[i] else 1.0
    dposv("U", &size, &one, A, &size, step, &size, &info)
    for i in range(p):
        step[i] = step[i] if info == 0 else 0.0
        gain -= 0.5 * g[i] * step[i]
        most = max(most, fabs(step[i]))
    for i in range(p):
        step[i] *= min(1.0, longest / most)
    return gain


cdef void correct(Py_ssize_t p, double *B, const double *s, double *y, double *Bs) noexcept nogil:
    """B made to agree with the last step, B s = y, by a BFGS update damped to stay positive; y is used up."""
    cdef Py_ssize_t i, j
    cdef double expected, seen, share
    for i in range(p):
        Bs[i] = dot(p, B + i * p, s)
    expected, seen = dot(p, s, Bs), dot(p, s, y)
    if seen < DAMPED_BELOW * expected:
        share = (1.0 - DAMPED_BELOW) * expected / (expected - seen)
        for i in range(p):
            y[i] = share * y[i] + (1.0 - share) * Bs[i]
        seen = dot(p, s, y)
    for i in range(p):
        for j in range(p):
            B[i * p + j] += y[i] * y[j] / seen - Bs[i] * Bs[j] / expected


cdef bint all_finite(Py_ssize_t p, double f, const double *g) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(p):
        if not isfinite(g[i]):
            return False
    return isfinite(f)


cdef bint newton_from(HyperPosterior target, double *x, const double *lower, const double *upper, double gain_tol,
                      Py_ssize_t max_values, double longest, double *f, double *mean) noexcept nogil:
    """From x (p,), in the box, to a minimum there, with the value f and its mean; False without memory."""
    cdef Py_ssize_t p = target.dim, i, values
    cdef double *work = room(times(p, plus(times(3, p), 8)))
    if work == NULL:
        return False
    cdef double *B = work
    cdef double *B_trial = B + p * p
    cdef double *g = B_trial + p * p
    cdef double *g_trial = g + p
    cdef double *trial = g_trial + p
    cdef double *step = trial + p
    cdef double *s = step + p
    cdef double *y = s + p
    cdef double *Bs = y + p
    cdef double *scratch = Bs + p
    cdef double f_trial, mean_trial, slope, moved, promised, rise, t = 1.0
    cdef bint sound
    if not target.nats(x, f, g, mean, B):
        free(work)
        return False
    if not all_finite(p, f[0], g):
        f[0] = INFINITY
        free(work)
        return True
    promised = promised_step(p, x, g, B, lower, upper, longest, step, scratch)
    for values in range(1, max_values):
        slope, moved = 0.0, 0.0
        for i in range(p):
            trial[i] = min(max(x[i] + t * step[i], lower[i]), upper[i])
            s[i] = trial[i] - x[i]
            slope += g[i] * s[i]
            moved = max(moved, fabs(s[i]))
        if promised < gain_tol or moved < NO_MOVE:
            break
        if slope >= 0.0:
            # Cut off by the box, a step may lead uphill; a shorter one does not.
            t *= 0.1
            continue
        if not target.nats(trial, &f_trial, g_trial, &mean_trial, B_trial):
            free(work)
            return False
        sound = all_finite(p, f_trial, g_trial)
        if sound and f_trial <= f[0] + SUFFICIENT * slope:
            for i in range(p):
                y[i] = g_trial[i] - g[i]
                x[i], g[i] = trial[i], g_trial[i]
            f[0], mean[0] = f_trial, mean_trial
            correct(p, B_trial, s, y, Bs)
            memcpy(B, B_trial, p * p * sizeof(double))
            promised = promised_step(p, x, g, B, lower, upper, longest, step, scratch)
            t = 1.0
        else:
            # The minimizer of the parabola through f, its slope and the trial value, kept within [0.1, 0.5].
            rise = f_trial - f[0] - slope if sound else INFINITY
            t *= min(max(-slope / max(2.0 * rise, -slope), 0.1), 0.5)
    free(work)
    return True
