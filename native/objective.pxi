# What a compiled search works on.

cdef double SUFFICIENT = 1e-4
cdef double NO_MOVE = 1e-10

cdef Py_ssize_t check_columns(const double[:, ::1] X, Py_ssize_t dim) except -1:
    """The number of rows of X; ValueError unless it has ``dim`` columns: compiled loops do not look where they read."""
    if X.shape[1] != dim:
        raise ValueError(f"points must have {dim} columns; got {X.shape[1]}")
    return X.shape[0]


cdef class Objective:
    """A function of d numbers that can be evaluated at many points without Python."""

    cdef readonly Py_ssize_t dim

    cdef bint evaluate(self, Py_ssize_t m, const double *X, double *f, double *G) noexcept nogil:
        """Values f (m,) and gradients G (m, dim) at X (m, dim); False where that failed, see :meth:`failure`."""
        return False

    def value_with_gradient(self, const double[:, ::1] X):
        """Values (m,) and gradients (m, dim) at X (m, dim)."""
        f, G = np.empty(check_columns(X, self.dim)), np.empty((X.shape[0], X.shape[1]))
        cdef double[::1] f_view = f
        cdef double[:, ::1] G_view = G
        cdef bint good
        with nogil:
            good = self.evaluate(X.shape[0], &X[0, 0], &f_view[0], &G_view[0, 0])
        if not good:
            raise self.failure()
        return f, G

    cdef failure(self):
        """The exception that goes with an evaluation that did not succeed."""
        return MemoryError()


cdef class Callback(Objective):
    """An objective in Python, ``(m, dim) points -> values (m,), gradients (m, dim)``, for a compiled search."""

    cdef object function, error

    def __cinit__(self, function, Py_ssize_t dim):
        if dim < 0:
            raise ValueError(f"an objective must have no fewer than zero columns; got {dim}")
        self.function, self.dim = function, dim

    cdef bint evaluate(self, Py_ssize_t m, const double *X, double *f, double *G) noexcept nogil:
        with gil:
            return self.call(m, X, f, G)

    cdef failure(self):
        return self.error

    cdef bint call(self, Py_ssize_t m, const double *X, double *f, double *G) noexcept:
        """False when the function raised: that error is then the :meth:`failure`."""
        cdef Py_ssize_t d = self.dim
        cdef double[:, ::1] copied
        cdef const double[::1] values
        cdef const double[:, ::1] gradients
        try:
            points = np.empty((m, d))
            copied = points
            memcpy(&copied[0, 0], X, m * d * sizeof(double))
            found, slopes = self.function(points)
            values = np.ascontiguousarray(found, dtype=np.float64)
            gradients = np.ascontiguousarray(slopes, dtype=np.float64)
            if values.shape[0] != m or gradients.shape[0] != m or gradients.shape[1] != d:
                raise ValueError(f"an objective must give values ({m},) and gradients ({m}, {d})")
            memcpy(f, &values[0], m * sizeof(double))
            memcpy(G, &gradients[0, 0], m * d * sizeof(double))
        except BaseException as error:
            self.error = error
            return False
        return True
