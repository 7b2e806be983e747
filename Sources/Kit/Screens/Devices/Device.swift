package import Foundation

/// A device that was paired.
package struct Device: Sendable, Equatable {
    /// Its identity, which the token cannot be computed from.
    package let id: String
    /// Its name, for people.
    package var name: String
    /// The only profile that it has in apps without a login.
    package let profile: String
    /// When it was paired.
    package let pairedAt: Date
    /// When it last sent a request, exact to some seconds; to the hour after a restart.
    package var lastSeenAt: Date

    /// Longest name, in characters.
    static let longestName = 64

    /// Returns a name without control characters and spaces around it; nil if that is empty or too long.
    static func name(_ text: String) -> String? {
        let visible = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
        guard visible.allSatisfy({ $0.properties.generalCategory != .control }) else { return nil }
        let name = String(String.UnicodeScalarView(visible)).trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty || name.count > longestName || name.utf8.count > 4 * longestName ? nil : name
    }
}
