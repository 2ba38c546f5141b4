/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of REAL for CPU devices: VECTOR holds LANES numbers, MASKS is what comparisons of two
 * give. WIDTH is the columns of a panel, two vectors. Panels keep numbers in the type PANEL, f32
 * where no element has more bits; WIDEN: REAL is f64 all the same.
 */
#define vector_f32 float16
#define vector_f64 double8
#define VECTOR JOIN(vector_, REAL)
#define masks_f32 int16
#define masks_f64 long8
#define MASKS JOIN(masks_, REAL)
#define LANES_f32 16
#define LANES_f64 8
#define LANES JOIN(LANES_, REAL)
#define WIDTH (2 * LANES)
#define VLOAD_f32 vload16
#define VLOAD_f64 vload8
#define VLOAD JOIN(VLOAD_, REAL)
#define VSTORE_f32 vstore16
#define VSTORE_f64 vstore8
#define VSTORE JOIN(VSTORE_, REAL)
#ifdef WIDEN
#define PANEL_LOAD(i, p) convert_double8(vload8(i, p))
#else
#define PANEL_LOAD(i, p) VLOAD(i, p)
#endif
