import NIOHPACK

/// The representations of a header block (RFC 7541 §6).
enum HeaderBlock {
    /// Largest table of the encoder in bytes, whatever a client offers: it is searched from end to end for each field.
    static let tableSize = 4096

    /// Fields that hardly ever have the same value again: the table would lose others for them.
    private static let changing: Set = [
        "age", "content-length", "content-range", "date", "etag", "last-modified", "link", "location", "x-request-id",
    ]

    /// Returns how a field of a response is represented.
    static func indexing(of name: String) -> HPACKIndexing {
        // A secret (RFC 7541 §7.1.3).
        if name == "set-cookie" { return .neverIndexed }
        return changing.contains(name) ? .nonIndexable : .indexable
    }

    /// Whether a block leaves the dynamic table of its decoder as it is: fields by index, and literals that are not
    /// added to the table. As long as the table stays, the same bytes are the same fields.
    static func leavesTable(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = Reader(bytes: bytes)
        while let first = reader.peek {
            if first & 0x80 != 0 {
                guard let index = reader.integer(prefix: 7), index > 0 else { return false }
            } else if first & 0x60 != 0 {
                // A literal that is added, or another size of the table.
                return false
            } else {
                guard let name = reader.integer(prefix: 4), name > 0 || reader.skipsString(), reader.skipsString()
                else { return false }
            }
        }
        return true
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var index = 0

        var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

        /// Reads an integer (RFC 7541 §5.1); nil if it is not whole, or larger than any that a request has.
        mutating func integer(prefix: Int) -> Int? {
            guard let first = peek else { return nil }
            index += 1
            let mask = 1 << prefix - 1
            var value = Int(first) & mask
            guard value == mask else { return value }
            for shift in [0, 7, 14] {
                guard let next = peek else { return nil }
                index += 1
                value += Int(next & 0x7F) << shift
                if next & 0x80 == 0 { return value }
            }
            return nil
        }

        /// Skips a string (RFC 7541 §5.2).
        mutating func skipsString() -> Bool {
            guard let length = integer(prefix: 7), length <= bytes.count - index else { return false }
            index += length
            return true
        }
    }
}
