#pragma once

#include "ecotone/linalg/matrix.h"

/// Products of a tile that is in cache with a few columns: BLAS would pack the tile first, which costs more than such a
/// product.
namespace ecotone {

/// Columns of a panel; a panel of r rows is r x 8, contiguous.
constexpr Index panel_cols = 8;

/// down += A right (panels of a.rows() and a.cols() rows), on the calling thread.
void add_tile_product(ConstMatrixView a, const double* right, double* down);

/// down += A right and across += A' left at once, so that A is read once: for one of two mirrored tiles of a symmetric
/// matrix.
void add_tile_products(ConstMatrixView a, const double* right, const double* left, double* down, double* across);

}  // namespace ecotone
