import HTTPSemantics
package import HTTPTypes

/// A language that screens and problems are in.
package enum Language: String, Sendable, CaseIterable {
    /// English.
    case english = "en"
    /// Russian.
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
