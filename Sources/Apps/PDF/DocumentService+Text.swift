import Concurrency
import Foundation
import Screens
import Storage
import Upstream

extension DocumentService {
    /// `POST …/pages {"text", "locale"?, "at"?}`: dictated text becomes pages, as many as it takes.
    @Sendable func addText(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject()
        let text = try acceptedText(try fields.string("text"))
        let locale = try Self.acceptedLocale(try fields.string("locale"))
        let place = try Self.place(fields)
        let id = try document(request, profile: profile).id
        return try await turns.holding([id]) {
            let before = try documentToChange(request, profile: profile)
            guard place ?? 1 <= before.pages.count + 1 else {
                throw Problem.validation([
                    .field(
                        "/at",
                        "invalid",
                        "at must be from 1 to \(before.pages.count + 1), the number that the first new page gets."
                    )
                ])
            }
            let (after, added, missing, revision) = try await job(request, on: before, profile: profile) { progress in
                let output = scratch.place(".pdf")
                let made = try await engine.typeset(text, locale, output.path) { progress($0 / 2) }
                let new = made.pages.map { DocumentPage(made: $0) }
                let count = before.pages.count + new.count
                guard count <= options.maximumPages else {
                    throw DocumentEngineError.tooManyPages(source: nil, limit: options.maximumPages)
                }
                let at = place.map { $0 - 1 } ?? before.pages.count
                let old = before.pages.indices.map { DocumentEngine.Pick(file: 0, page: $0 + 1) }
                let picks = old[..<at] + new.indices.map { DocumentEngine.Pick(file: 1, page: $0 + 1) } + old[at...]
                let whole = scratch.place(".pdf")
                try await engine.arrange(
                    [store.database.blobs.filePath(of: before.blob), output.path],
                    Array(picks),
                    whole.path
                ) { progress(0.5 + $0 / 2) }
                var pages = before.pages
                pages.insert(contentsOf: new, at: at)
                let changed = try await replace(before, blob: try store.adopt(whole), pages: pages, profile: profile)
                return (changed.document, new.map(\.id), made.missingCharacters, changed.revision)
            }
            announce(revision)
            return try shown(
                after,
                as: TextPagesScreen(document: DocumentScreen(after), added: added, missingCharacters: missing),
                "pdf.reader"
            )
        }
    }

    private func acceptedText(_ text: String?) throws -> String {
        // Joiners and marks of direction (Cf) show nothing by themselves either.
        guard let text,
            text.unicodeScalars.contains(where: {
                !$0.properties.isWhitespace && ![.control, .format].contains($0.properties.generalCategory)
            })
        else {
            throw Problem.validation([.field("/text", "required", "text must hold something that can be seen.")])
        }
        guard text.utf8.count <= options.maximumTextBytes else {
            let detail = "text has \(text.utf8.count) bytes of UTF-8; \(options.maximumTextBytes) are the most."
            throw Problem(.tooLarge, detail, errors: [.field("/text", "too-large", detail)])
        }
        guard !text.unicodeScalars.contains("\0") else {
            throw Problem.validation([.field("/text", "invalid", "text must not hold U+0000.")])
        }
        return text
    }

    /// A tag of BCP 47 by its form: parts of 1 to 8 letters or digits with hyphens between.
    private static func acceptedLocale(_ locale: String?) throws -> String? {
        guard let locale else { return nil }
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

    /// The number that the first new page gets; nil for the end.
    private static func place(_ fields: JSONFields) throws -> Int? {
        switch fields.values["at"] {
        case nil, .null: return nil
        case .number(let number):
            if let at = Int(exactly: number), at >= 1 { return at }
        default: break
        }
        throw Problem.validation([
            .field("/at", "invalid", "at must be a whole number from 1 on: the number that the first new page gets.")
        ])
    }
}
