//! Variable-length numbers: seven bits per byte, low bits first, with the high bit set in all bytes except the last.

/// Appends a number.
pub(crate) fn put(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Removes a number from the front. Returns `None` if the bytes end, or if the number exceeds 64 bits.
pub(crate) fn take(from: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = from.split_first()?;
    if first < 0x80 {
        *from = rest;
        return Some(u64::from(first));
    }
    let (mut value, mut bytes) = (u64::from(first & 0x7F), rest);
    for shift in (7..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        if shift == 63 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7F) << shift;
        bytes = rest;
        if byte < 0x80 {
            *from = bytes;
            return Some(value);
        }
    }
    None
}

/// Removes a number of at most 32 bits from the front.
pub(crate) fn take_u32(from: &mut &[u8]) -> Option<u32> {
    take(from).and_then(|value| u32::try_from(value).ok())
}

/// Maps a signed number to an unsigned one that is small if the number is near zero.
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Reverses [`zigzag`].
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_number_comes_back(value: u64, shift in 0..64u32) {
            let value = value >> shift;
            let mut bytes = Vec::new();
            put(value, &mut bytes);
            let mut rest = bytes.as_slice();
            assert_eq!(take(&mut rest), Some(value));
            assert!(rest.is_empty());
            assert_eq!(take(&mut bytes.get(..bytes.len() - 1).unwrap()), None);
            assert_eq!(unzigzag(zigzag(value.cast_signed())), value.cast_signed());
        }
    }

    #[test]
    fn more_than_64_bits_is_refused() {
        assert_eq!(take(&mut [0xFF; 11].as_slice()), None);
        let mut most = [0xFF; 10];
        most[9] = 1;
        assert_eq!(take(&mut most.as_slice()), Some(u64::MAX));
        most[9] = 2;
        assert_eq!(take(&mut most.as_slice()), None);
    }
}
