/// By what secrets are recognized.
enum SecretNames {
    /// Members of JSON; a code there is mostly one of an error or a country.
    static let members = Redaction.names.union([
        "user_code", "id_token", "auth_token", "session_token", "csrf_token", "client_assertion", "sessionid", "otp",
        "pin", "private_key",
    ]).subtracting(["code"])

    /// Fields of forms.
    static let fields = members.union(["code"])

    /// Query parameters: those of forms, and the signatures of links.
    private static let parameters = fields.union([
        "key", "sign", "signature", "sig", "hmac", "x-amz-signature", "x-amz-credential",
        "x-amz-security-token", "x-goog-signature", "x-goog-credential", "awsaccesskeyid", "policy", "key-pair-id",
        "tkn", "jwt", "auth", "session",
    ])

    private static let parts = ["token", "secret", "api-key", "apikey", "password", "session-id", "csrf", "xsrf"]

    /// Whether a header field carries a secret, by its name in lower case.
    static func isSecret(field name: String) -> Bool { parts.contains { name.contains($0) } }

    static func isSecret(parameter name: some StringProtocol) -> Bool { parameters.contains(name.lowercased()) }

    /// Whether a segment of a path is a signature: long, of the letters of Base64 and no word, and no name of a file.
    static func isSignature(segment: String) -> Bool {
        guard segment.utf8.count >= 32, segment.contains(where: \.isNumber), segment.contains(where: \.isLetter) else {
            return false
        }
        let marks = Set("+/=_-.:%~".utf8)
        guard
            segment.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || marks.contains($0)
            })
        else { return false }
        guard let dot = segment.lastIndex(of: ".") else { return true }
        let ending = segment[segment.index(after: dot)...]
        return !(2...5).contains(ending.count) || !(ending.first?.isLetter ?? false)
    }
}
