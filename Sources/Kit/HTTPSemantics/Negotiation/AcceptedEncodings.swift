/// The content codings that a client accepts: `Accept-Encoding`. RFC 9110 §12.5.3.
public enum AcceptedEncodings {
    /// Returns whether a client accepts gzip: listed, or covered by `*`, with a weight above zero that is not below
    /// that of the identity coding, if the client gives it one.
    /// - Parameter lines: all lines of the field. Without the field only the identity coding is used, although any
    ///   coding would be permitted.
    public static func allowGzip(_ lines: [String]) -> Bool {
        let codings = WeightedValue.list(lines)
        func weight(_ coding: String) -> Double? { codings.first { $0.value == coding }?.weight }
        let gzip = weight("gzip") ?? weight("x-gzip") ?? weight("*") ?? 0
        return gzip > 0 && gzip >= weight("identity") ?? weight("*") ?? 0
    }
}
