import Foundation

/// Cuts JSON before it is decoded.
enum JSONPrefix {
    /// Returns an array with its first elements only, as JSON.
    ///
    /// - Parameter maximum: Elements to keep, at least one.
    /// - Returns: Nil if the text has no further elements, or does not begin as an array in UTF-8: then it is decoded
    ///   as it is. The syntax is not checked; what is malformed stays malformed.
    static func ofArray(_ json: Data, elements maximum: Int) -> Data? {
        json.withUnsafeBytes { bytes in
            guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "["), let end = end(of: maximum, in: bytes) else {
                return nil
            }
            var prefix = Data(capacity: end + 1)
            prefix.append(contentsOf: bytes[..<end])
            prefix.append(UInt8(ascii: "]"))
            return prefix
        }
    }

    /// Whether an element follows a comma, and not the end.
    private static func isFollowed(_ comma: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let next = bytes[(comma + 1)...].first(where: { $0 > 0x20 }) else { return false }
        return next != UInt8(ascii: "]")
    }

    /// Returns the index of the comma after an element, counted from 1; nil if there is none.
    private static func end(of element: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        var (index, depth, count, isInText) = (0, 0, 0, false)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\"") where isInText: isInText = false
            case UInt8(ascii: "\\") where isInText: index += 1
            case _ where isInText: break
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ",") where depth == 1:
                count += 1
                if count == element { return isFollowed(index, in: bytes) ? index : nil }
            default: break
            }
            index += 1
        }
        return nil
    }
}
