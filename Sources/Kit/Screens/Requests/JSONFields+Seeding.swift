package import Foundation

// What documents of tests have beside texts.
extension JSONFields {
    /// Returns a time (ISO 8601, UTC); nil if it is absent or null.
    /// - Throws: 422 if it is something else.
    package func time(_ name: String) throws -> Date? {
        guard let text = try string(name) else { return nil }
        for hasFractions in [false, true] {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFractions)
            // The other form may fit.
            if let date = try? style.parse(text) { return date }
        }
        throw Problem.validation([.field("/\(name)", "invalid", "\(name) must be a time such as 2026-01-05T10:00:00Z.")]
        )
    }

    /// Returns the profile that `profile` names; `local` if it is absent.
    /// - Throws: 422 if it cannot be one.
    package func profile() throws -> String {
        let name = try string("profile") ?? "local"
        guard ScreenRequest.isProfile(name) else {
            throw Problem.validation([
                .field("/profile", "invalid", "profile must be one name of \(ScreenRequest.profileForm).")
            ])
        }
        return name
    }

    /// - Throws: 422 that names each field that is none of these.
    package func requireOnly(_ names: String...) throws {
        let others = values.keys.filter { !names.contains($0) }.sorted()
        guard !others.isEmpty else { return }
        throw Problem.validation(
            others.map { .field("/\(JSONPointer.token($0))", "unknown", "Known are \(names.joined(separator: ", ")).") }
        )
    }
}
