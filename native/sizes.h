/* Sizes that cannot wrap: what compiled code allocates is computed by these, and by nothing else.

   A size that is negative, or too large to be one, is -1, and so is all that is made of it. */
#ifndef BELIEVER_SIZES_H
#define BELIEVER_SIZES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static ptrdiff_t plus(ptrdiff_t a, ptrdiff_t b) {
    return a < 0 || b < 0 || a > PTRDIFF_MAX - b ? -1 : a + b;
}

static ptrdiff_t times(ptrdiff_t a, ptrdiff_t b) {
    return a < 0 || b < 0 || (b > 0 && a > PTRDIFF_MAX / b) ? -1 : a * b;
}

/* Memory for so many things of a size in bytes, or NULL; for one at least, so that NULL always means that there is none
   to be had. */
static void *room_for(ptrdiff_t things, size_t size) {
    const ptrdiff_t bytes = times(things > 0 ? things : things + 1, (ptrdiff_t)size);
    return bytes <= 0 ? NULL : malloc((size_t)bytes);
}

#endif
