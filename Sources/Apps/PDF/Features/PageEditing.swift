import Database
import Foundation
import Freshness
import Media
import Screens

/// Deletes, rotates and reorders the pages of a document.
struct PageEditing: Sendable {
    let editor: DocumentEditor
    let arranger: PageArranger

    /// A page of the changed document: its position before the change, and its rotation by the change, in degrees
    /// clockwise.
    private struct Step: Sendable, Equatable {
        var page: Int
        var rotation = 0
    }

    /// `DELETE …/pages/{page_id}`. The last page cannot be deleted: 409.
    @Sendable func delete(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("page_id")
        return try await change(request) { document in
            let index = try document.index(of: id)
            guard document.pages.count > 1 else {
                throw Problem(
                    .lastPage,
                    "The only page of a document cannot be deleted; "
                        + "DELETE \(DocumentProperties.href(document.id)) deletes the document."
                )
            }
            return document.pages.indices.filter { $0 != index }.map { Step(page: $0) }
        }
    }

    /// `PATCH …/pages/{page_id} {"rotate_by"}`: clockwise, added to the page's rotation.
    @Sendable func rotate(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("page_id")
        _ = try request.profile()
        guard case .number(let wanted) = try await request.jsonObject().values["rotate_by"],
            let degrees = Int(exactly: wanted), degrees % 90 == 0
        else {
            throw Problem.validation([
                .field("/rotate_by", "invalid", "rotate_by must be a multiple of 90, in degrees clockwise.")
            ])
        }
        let rotation = ((degrees % 360) + 360) % 360
        return try await change(request) { document in
            let index = try document.index(of: id)
            return document.pages.indices.map { Step(page: $0, rotation: $0 == index ? rotation : 0) }
        }
    }

    /// `PUT …/pages/order {"pages"}`: all pages, each once.
    @Sendable func reorder(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let wanted = try PageList(try await request.jsonObject())
        return try await change(request) { document in
            let indices = try wanted.indices(in: document)
            guard indices.count == document.pages.count else {
                let missing = document.pages.count - indices.count
                let detail: Text =
                    "pages must name all \(document.pages.count) pages of the document; \(missing) are missing."
                throw Problem.validation([.field("/pages", "incomplete", detail)])
            }
            return indices.map { Step(page: $0) }
        }
    }

    private func change(_ request: ScreenRequest, _ plan: @escaping @Sendable (Document) throws -> [Step])
        async throws -> ScreenResponse
    {
        try await editor.change(request) { document in
            let steps = try plan(document)
            // No new file for what is so already.
            return steps == document.pages.indices.map { Step(page: $0) } ? nil : steps
        } work: { document, steps, progress in
            let pages = steps.map { ComposedPage(page: $0.page + 1, rotateBy: $0.rotation) }
            return DocumentEditor.Change(
                file: try await arranger.write(pages, of: [document], title: document.name, progress),
                pages: steps.map { document.pages[$0.page].turned(by: $0.rotation) },
                detail: ()
            )
        } response: { document, _ in
            try .reader(document)
        }
    }
}
