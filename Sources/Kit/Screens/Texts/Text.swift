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
    /// The text in English.
    package let english: String
    /// The text in Russian; nil if it is the same.
    private let translation: String?

    /// Creates a text.
    ///
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

    /// The text in Russian.
    package var russian: String { translation ?? english }

    /// Whether there is a text for each language.
    var isTranslated: Bool { translation != nil }

    /// Returns the text in a language.
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

        /// Begins without pieces.
        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends a piece that is the same in all languages.
        package mutating func appendLiteral(_ literal: String) { text = text + Text(verbatim: literal) }

        /// Appends a text.
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
