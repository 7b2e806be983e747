import Database

/// A prefix as a range of an index: all texts from ``start`` up to, but without, ``end`` begin with it, and no others.
///
/// SQLite compares text by its UTF-8 bytes, which is the order of code points.
struct KeyPrefix {
    let start: String

    init(_ start: String) {
        self.start = start
    }

    /// The first text after all that begin with the prefix; nil if there is none, as for the empty prefix.
    var end: String? {
        var scalars = Array(start.unicodeScalars)
        while let last = scalars.popLast() {
            if let next = Self.next(after: last) {
                scalars.append(next)
                return String(String.UnicodeScalarView(scalars))
            }
        }
        return nil
    }

    private static func next(after scalar: Unicode.Scalar) -> Unicode.Scalar? {
        // U+D800 to U+DFFF are surrogates.
        Unicode.Scalar(scalar.value + 1) ?? (scalar.value == 0xD7FF ? Unicode.Scalar(0xE000) : nil)
    }
}
