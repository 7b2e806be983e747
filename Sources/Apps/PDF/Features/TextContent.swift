import Foundation
import Screens

/// The body of a request that adds text, `{"text", "locale"?, "at"?}`.
struct TextContent: Sendable {
    let text: String
    /// A language tag (BCP 47).
    let locale: String?
    /// Where the new pages are inserted.
    let place: PagePlace

    /// Reads the fields.
    ///
    /// - Parameter maximumBytes: of the text, in UTF-8.
    /// - Throws: ``Problem``, 422 for a field that is not acceptable, 413 for a text that is too long.
    init(_ fields: JSONFields, maximumBytes: Int) throws {
        text = try Self.text(fields, maximumBytes: maximumBytes)
        locale = try Self.locale(fields)
        place = try PagePlace(fields)
    }

    private static func text(_ fields: JSONFields, maximumBytes: Int) throws -> String {
        // Joiners and marks of direction (Cf) show nothing by themselves either.
        guard let text = try fields.string("text"),
            text.unicodeScalars.contains(where: {
                !$0.properties.isWhitespace && ![.control, .format].contains($0.properties.generalCategory)
            })
        else {
            throw Problem.validation([.field("/text", "required", .nothingVisible)])
        }
        guard text.utf8.count <= maximumBytes else {
            let detail: Text = "text has \(text.utf8.count) bytes of UTF-8; \(maximumBytes) are the most."
            throw Problem(.tooLarge, detail, errors: [.field("/text", "too-large", detail)])
        }
        guard !text.unicodeScalars.contains("\0") else {
            throw Problem.validation([.field("/text", "invalid", "text must not contain U+0000.")])
        }
        return text
    }

    /// A tag by its form: parts of 1 to 8 letters or digits with hyphens between.
    private static func locale(_ fields: JSONFields) throws -> String? {
        guard let locale = try fields.string("locale") else { return nil }
        let parts = locale.split(separator: "-", omittingEmptySubsequences: false)
        let isTag =
            locale.utf8.count <= 35
            && parts.allSatisfy {
                (1...8).contains($0.utf8.count) && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
        guard isTag else {
            throw Problem.validation([
                .field("/locale", "invalid", "locale must be a language tag such as ru or zh-Hant (BCP 47).")
            ])
        }
        return locale
    }
}
