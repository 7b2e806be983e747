/// Reads credentials of the scheme `Bearer`. RFC 6750 §2.1, RFC 9110 §11.4.
public enum BearerToken {
    /// Returns the token of an `Authorization` value.
    /// - Returns: nil if the value has another scheme or no token. The name of the scheme is case-insensitive.
    public static func parse(_ authorization: String) -> String? {
        let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(FieldList.trim(parts[1]))
    }
}
