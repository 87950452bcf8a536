//! Vectors of texts, and how similar two of them are.

/// Number of dimensions, and of bytes, of a vector of the table.
pub const DIMENSIONS: usize = 256;

/// Similarity of two texts with the same vector.
pub const MAX_SIMILARITY: u16 = 1023;

/// Base-two logarithm of the square of a vector's length, which is 181. The largest component of 1,245 passages and of
/// all single pieces is 0.66 of the length: 119, where 127 is the maximum.
const SQUARE_BITS: u32 = 15;

/// Largest value to which numbers of a model are scaled before they are summed. The sum of the squares of 2¹⁶ of them
/// fits, shifted as [`Vector::normalised`] shifts it.
const SCALE: f64 = (1_u64 << 40) as f64;

/// Direction of a text's meaning: signed bytes, whose length as a vector is about 181.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector(Box<[u8]>);

impl Vector {
    /// Returns the vector with these bytes, as [`Vector::bytes`] returned them. A component of -128, which no vector
    /// has, becomes -127.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| byte.cast_signed().max(-127).cast_unsigned()).collect())
    }

    /// Returns the direction of the numbers that a model gives for a text, or `None` if they have none: if one is
    /// infinite or not a number, or all are zero.
    #[must_use]
    pub fn from_numbers(numbers: &[f32]) -> Option<Self> {
        let largest = numbers.iter().map(|number| number.abs()).fold(0.0, f32::max);
        let is_direction = largest > 0.0 && numbers.iter().all(|number| number.is_finite());
        #[allow(clippy::cast_possible_truncation, reason = "at most 2⁴⁰")]
        let scaled = |number: &f32| (f64::from(*number) / f64::from(largest) * SCALE).round() as i64;
        is_direction.then(|| Self::normalised(&numbers.iter().map(scaled).collect::<Vec<_>>())).flatten()
    }

    /// Returns the bytes to be stored: a signed byte for each dimension.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the similarity of two vectors of one model: their cosine times [`MAX_SIMILARITY`], and 0 if it is
    /// negative.
    #[must_use]
    pub fn similarity(&self, other: &Self) -> u16 {
        scaled(product(&self.0, &other.0))
    }

    /// Returns the direction of a sum, or `None` if it has none.
    pub(crate) fn normalised(sums: &[i64]) -> Option<Self> {
        let squares: u128 = sums.iter().map(|sum| u128::from(sum.unsigned_abs()).pow(2)).sum();
        // The root of a sum of row products fits: even 2³² rows have a sum below 2⁵⁶ in each dimension.
        let length = (squares << (SQUARE_BITS + 2)).isqrt();
        let length = i64::try_from(length).ok().filter(|length| *length > 0)?;
        let component = |sum: &i64| {
            // 2^16 × sum ÷ (2^8.5 × the length of all), rounded.
            let doubled = sum.saturating_mul(4 << SQUARE_BITS) + length * sum.signum();
            let component = (doubled / (2 * length)).clamp(-127, 127);
            i8::try_from(component).unwrap_or_default().cast_unsigned()
        };
        Some(Self(sums.iter().map(component).collect()))
    }
}

/// Returns the sum of the products of signed bytes.
#[inline(always)]
pub(crate) fn product(one: &[u8], other: &[u8]) -> i32 {
    let signed = |byte: &u8| i32::from(byte.cast_signed());
    one.iter().zip(other).map(|(a, b)| signed(a) * signed(b)).sum()
}

/// Returns the similarity that a product of two vectors means. Rounding makes some vectors longer than 181, by less
/// than a hundredth, so the product is cut off at the square of that.
#[inline(always)]
pub(crate) fn scaled(product: i32) -> u16 {
    let product = product.clamp(0, 1 << SQUARE_BITS) * i32::from(MAX_SIMILARITY);
    ((product + (1 << (SQUARE_BITS - 1))) >> SQUARE_BITS) as u16
}
