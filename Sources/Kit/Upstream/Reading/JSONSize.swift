/// The number of values that a JSON response may have.
///
/// A decoder needs many times the bytes of a short value: ten million numbers, which fit into the largest response that
/// is accepted, would take hundreds of megabytes. It makes a map of all values before a type can refuse them.
enum JSONSize {
    /// Largest number of values of one response: 100 for each element of the longest list (``ListLimit``).
    static let maximumValues = 100 * ListLimit.elements

    /// Whether a body may be decoded. Bodies that are no JSON array or object are not looked at.
    static func isAcceptable(_ body: [UInt8]) -> Bool {
        // A value and its comma take two bytes.
        guard body.count >= 2 * maximumValues, let first = body.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
        else { return true }
        // Commas within strings count as well, which makes the limit a little stricter, and the count fast.
        return body.count { $0 == UInt8(ascii: ",") } < maximumValues
    }
}
