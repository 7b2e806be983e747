import Screens

/// The pages that the body of a request names by their ids, `{"pages": […]}`.
struct PageList: Sendable {
    private let ids: [String]

    /// Reads the field `pages`.
    ///
    /// - Throws: ``Problem``, 422 if it is not a list of at least one id.
    init(_ fields: JSONFields) throws {
        guard let ids = try fields.strings("pages"), !ids.isEmpty else {
            throw Problem.validation([
                .field("/pages", "required", "pages must be a list of ids of pages, one at least.")
            ])
        }
        self.ids = ids
    }

    /// Returns the positions of the pages in a document, from 0, in the order of the list.
    ///
    /// - Throws: ``Problem``, 422 that names each id that is unknown or there twice, at most 20.
    func indices(in document: Document) throws -> [Int] {
        let places = Dictionary(document.pages.enumerated().map { ($1.id, $0) }) { first, _ in first }
        var seen: Set<String> = []
        var errors: [Problem.FieldError] = []
        var indices: [Int] = []
        for (position, id) in ids.enumerated() {
            guard let index = places[id] else {
                errors.append(.field("/pages/\(position)", "unknown", "pages[\(position)] is no page of the document."))
                continue
            }
            if !seen.insert(id).inserted {
                errors.append(.field("/pages/\(position)", "duplicate", "pages[\(position)] is there twice."))
            }
            indices.append(index)
        }
        guard errors.isEmpty else { throw Problem.validation(Array(errors.prefix(20))) }
        return indices
    }
}
