package import Foundation
import HTTP
package import HTTPTypes

/// A text for people, in all languages that Larder speaks.
///
/// An app declares its texts in one place, as static members or functions in an extension of this type, so that none
/// can be without a translation:
///
///     extension Text {
///         static let tryAgain = Text("Try again", ru: "Повторить")
///         static func found(_ count: Int) -> Text { Text("\(count) found", ru: "Найдено: \(count)") }
///     }
///
/// It is written in the language of the response (``Language/current``).
package struct Text: Sendable, Hashable {
    package let english: String
    /// The text in Russian; nil if it is the same.
    private let translation: String?

    /// - Parameters:
    ///   - english: The text in English.
    ///   - russian: The text in Russian.
    package init(_ english: String, ru russian: String) {
        self.english = english
        translation = russian
    }

    /// Creates a text that is the same in all languages, such as a name.
    package init(verbatim text: String) {
        english = text
        translation = nil
    }

    package var russian: String { translation ?? english }

    /// Whether there is a text for each language.
    var isTranslated: Bool { translation != nil }

    package subscript(_ language: Language) -> String {
        switch language {
        case .english: english
        case .russian: russian
        }
    }

    /// Returns two texts one after the other.
    package static func + (first: Text, second: Text) -> Text {
        if first.translation == nil, second.translation == nil {
            return Text(verbatim: first.english + second.english)
        }
        return Text(first.english + second.english, ru: first.russian + second.russian)
    }
}

extension Text: ExpressibleByStringInterpolation {
    /// Collects the pieces of a text in all languages.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = Text(verbatim: "")

        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends a piece that is the same in all languages.
        package mutating func appendLiteral(_ literal: String) { text = text + Text(verbatim: literal) }

        package mutating func appendInterpolation(_ part: Text) { text = text + part }

        /// Appends a value that is the same in all languages.
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text = text + Text(verbatim: value.description)
        }
    }

    /// Creates a text that is the same in all languages.
    package init(stringLiteral text: String) { self.init(verbatim: text) }

    /// Creates a text of pieces, of which only texts differ by language.
    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.text }
}

extension DefaultStringInterpolation {
    /// A text has no default language: specify one.
    @available(*, unavailable, message: "Say in which language: text[.english]")
    package mutating func appendInterpolation(_ text: Text) {}
}

extension Sequence<Text> {
    /// Returns the texts with a separator between them.
    package func joined(separator: String) -> Text {
        reduce(nil as Text?) { sum, text in sum.map { $0 + Text(verbatim: separator) + text } ?? text } ?? ""
    }
}

extension Text: Encodable {
    /// Encodes the text in the language of the response.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self[Language.current])
    }
}

/// The time zone that the parameter `tz` of the request names, for texts of all screens.
package enum ClientTimeZone {
    /// Nil if the request names none.
    @TaskLocal package static var current: TimeZone?
}

/// A language that screens and problems are in.
package enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case russian = "ru"

    /// The language of the response that the current task makes.
    @TaskLocal package static var current: Language = .english

    /// The language that a request asks for.
    ///
    /// - Parameters:
    ///   - fields: Header fields of the request; `Accept-Language` decides.
    ///   - original: The language of the original app, for clients that name none of these.
    package init(acceptedBy fields: HTTPFields, original: Language) {
        self.init(acceptedBy: fields[values: .acceptLanguage], original: original)
    }

    /// The language that the lines of `Accept-Language` ask for.
    init(acceptedBy lines: [String], original: Language) {
        self = AcceptedLanguages(lines).preferred(of: Self.tags).flatMap(Language.init) ?? original
    }

    /// The language tags of all languages (RFC 5646).
    package static let tags = allCases.map(\.rawValue)
}
