import HTTP
package import HTTPTypes

extension ScreenRequest {
    /// Returns the profile of a request without a token: the one that `Larder-Profile` or the parameter `profile`
    /// names, else `local` (docs/contract.md, "Sessions").
    ///
    /// A profile keeps people, or parallel tests, apart; it protects nothing. Responses must carry
    /// `HTTPTypes/HTTPField/Name/larderProfile` in `Vary`: ``ScreenResponse/byProfile()``.
    /// A paired device has the profile of its code and no other.
    /// - Throws: 400 for a name that is not 1 to 64 letters, digits, `-`, `_` or `.`, and for two different names; 403
    ///   for another one than the device's.
    package func profile() throws -> String {
        let named = try namedProfile()
        guard let boundProfile = context.boundProfile else { return named ?? "local" }
        guard named == nil || named == boundProfile else { throw Problem(.profileNotAllowed, .otherProfile) }
        return boundProfile
    }

    private func namedProfile() throws -> String? {
        let values = headerFields[values: .larderProfile]
        guard values.count < 2, values.allSatisfy(Self.isProfile) else {
            throw Problem(.invalidParameter, "Larder-Profile must be one name of \(Self.profileForm).")
        }
        guard let name = try query.string("profile") else { return values.first }
        guard Self.isProfile(name) else {
            throw Problem.invalidParameter("profile", accepted: "must be one name of \(Self.profileForm)")
        }
        guard values.allSatisfy({ $0 == name }) else {
            throw Problem.invalidParameter("profile", accepted: "must be the name that Larder-Profile has, or left out")
        }
        return name
    }

    /// The form of a profile's name, for people.
    package static let profileForm = "1 to 64 letters, digits, -, _ or . (ASCII)"

    package static func isProfile(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64 && name.utf8.allSatisfy(isOfName)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        ASCIISet.alphanumerics.contains(byte) || "-_.".utf8.contains(byte)
    }
}

extension ScreenResponse {
    /// Returns the response with `Larder-Profile` in `Vary`.
    package func byProfile() -> ScreenResponse {
        var response = self
        response.headerFields.vary(on: .larderProfile)
        return response
    }
}

extension HTTPField.Name {
    /// `Larder-Profile`: whose shopping list or documents, in apps without a login.
    package static let larderProfile = HTTPField.Name(literal: "Larder-Profile")
}
