import HTTPSemantics
public import HTTPTypes

extension ScreenRequest {
    /// Returns the profile of a request without a token: the one that `Larder-Profile` names, else `local`
    /// (docs/contract.md, "Sessions").
    ///
    /// A profile keeps people, or parallel tests, apart; it protects nothing. Responses must carry
    /// ``HTTPTypes/HTTPField/Name/larderProfile`` in `Vary`: ``ScreenResponse/byProfile()``.
    /// - Throws: 400 for a name that is not 1 to 64 letters, digits, `-`, `_` or `.`.
    public func profile() throws -> String {
        let values = headerFields[values: .larderProfile]
        guard let name = values.first else { return "local" }
        let isName = !name.isEmpty && name.utf8.count <= 64 && name.utf8.allSatisfy(Self.isOfName)
        guard values.count == 1, isName else {
            throw Problem(
                .invalidParameter,
                "Larder-Profile must be one name of 1 to 64 letters, digits, -, _ or . (ASCII)."
            )
        }
        return name
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        ASCIISet.alphanumerics.contains(byte) || "-_.".utf8.contains(byte)
    }
}

extension ScreenResponse {
    /// Returns the response with `Larder-Profile` in `Vary`.
    public func byProfile() -> ScreenResponse {
        var response = self
        response.headerFields.vary(on: .larderProfile)
        return response
    }
}

extension HTTPField.Name {
    /// `Larder-Profile`: whose shopping list or documents, in apps without a login.
    public static let larderProfile = HTTPField.Name(literal: "Larder-Profile")
}
