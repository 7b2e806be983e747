import Foundation
import HTTPTypes
import Screens
import Storage
import Upstream

extension DocumentService {
    /// A file that a document is made of.
    struct Ingredient: Sendable {
        let title: String
        let fileName: String?
        let kind: FileKind
        let place: TemporaryPath
    }

    /// `POST /v1/pdf/documents`: files become a draft, or a draft each.
    @Sendable func create(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let (isSeparate, format) = try Self.wishes(request)
        let limits = UploadedForm.Limits(
            parts: options.maximumFiles + 16,
            fileBytes: options.maximumFileBytes,
            bodyBytes: options.maximumUploadBytes
        )
        let form = try await request.uploadedForm(into: scratch, limits: limits)
        return try await create(
            try ingredients(form),
            isSeparate: isSeparate,
            format: format,
            request,
            profile: profile
        )
    }

    static func wishes(_ request: ScreenRequest) throws -> (isSeparate: Bool, format: DocumentEngine.PageFormat) {
        let mode = try request.query.string("mode") ?? "single"
        guard ["single", "separate"].contains(mode) else {
            throw Problem.invalidParameter("mode", accepted: "accepts single or separate")
        }
        let page = try request.query.string("page") ?? DocumentEngine.PageFormat.fit.rawValue
        guard let format = DocumentEngine.PageFormat(rawValue: page) else {
            throw Problem.invalidParameter("page", accepted: "accepts fit or a4")
        }
        return (mode == "separate", format)
    }

    private func ingredients(_ form: UploadedForm) throws -> [Ingredient] {
        guard form.files.count <= options.maximumFiles else {
            throw Problem(
                .tooLarge,
                "One request may bring \(options.maximumFiles) files at the most, not \(form.files.count)."
            )
        }
        guard !form.files.isEmpty else {
            throw Problem.validation([.field("/files", "required", "The form has no files; at least one is needed.")])
        }
        return try form.files.enumerated().map { index, file in
            let title = file.title(at: index)
            guard file.length > 0 else {
                throw Problem(
                    DocumentEngineError.damaged(source: index),
                    titles: form.files.enumerated().map { $1.title(at: $0) }
                )
            }
            guard let kind = FileKind(of: file.beginning) else {
                let detail = "\(title) is none of the accepted types: \(FileKind.accepted)."
                throw Problem(
                    .unsupportedMediaType,
                    detail,
                    errors: [.field("/files/\(index)", "unsupported-media-type", detail)]
                )
            }
            return Ingredient(title: title, fileName: file.head.fileName, kind: kind, place: file.place)
        }
    }

    func create(
        _ ingredients: [Ingredient],
        isSeparate: Bool,
        format: DocumentEngine.PageFormat,
        _ request: ScreenRequest,
        profile: String
    ) async throws -> ScreenResponse {
        let batches = isSeparate ? ingredients.map { [$0] } : [ingredients]
        let created = clock.now()
        let titles = ingredients.map(\.title)
        let documents = try await job(request, titles: titles) { progress in
            var made: [DocumentStore.New] = []
            do {
                var before = 0
                for (index, batch) in batches.enumerated() {
                    let name = Self.name(of: batch, number: index + 1, at: created)
                    let part = { @Sendable (value: Double) in progress((Double(index) + value) / Double(batches.count))
                    }
                    made.append(try await compose(batch, before: before, name: name, format: format, part))
                    before += batch.count
                }
            } catch {
                for new in made { store.database.blobs.discard(new.blob) }
                throw error
            }
            // Only now is anything there: all of them, or none.
            return try await store.insert(made, profile: profile, created: created, draftUntil: draftEnd).documents
        }
        guard let first = documents.first, let screen = CreatedScreen(documents) else {
            throw Problem(.internal, "No document was made.")
        }
        return try shown(first, as: screen, "pdf.created")
    }

    /// A lone PDF keeps its name; what is made of photos is called by its time.
    private static func name(of batch: [Ingredient], number: Int, at instant: Date) -> String {
        let imported = batch.count == 1 && batch[0].kind == .pdf ? DocumentName.stem(of: batch[0].fileName) : nil
        return imported ?? DocumentName.standard(at: instant, number: number)
    }

    /// Makes one file; a fault of the engine's names the file among all of the request, `before` of which belong to
    /// earlier documents.
    private func compose(
        _ batch: [Ingredient],
        before: Int,
        name: String,
        format: DocumentEngine.PageFormat,
        _ progress: @escaping DocumentEngine.Progress
    ) async throws -> DocumentStore.New {
        let output = scratch.place(".pdf")
        let pages: [DocumentEngine.MadePage]
        do {
            pages = try await engine.compose(
                batch.map { .init(path: $0.place.path, kind: $0.kind) },
                format,
                output.path,
                progress
            )
            guard pages.count <= options.maximumPages else {
                throw DocumentEngineError.tooManyPages(source: nil, limit: options.maximumPages)
            }
        } catch let error as DocumentEngineError {
            throw error.offset(by: before, onlyOf: batch.count)
        }
        guard !pages.isEmpty else { throw DocumentEngineError.damaged(source: before) }
        return .init(name: name, blob: try store.adopt(output), pages: pages.map { DocumentPage(made: $0) })
    }
}

extension DocumentPage {
    /// A page that the engine has just made: it is like no other.
    init(made page: DocumentEngine.MadePage) {
        let kind: Kind =
            switch page.kind {
            case .image: .image
            case .text: .text
            case .imported: .imported
            }
        self.init(
            id: DocumentIdentity.random(),
            kind: kind,
            width: page.width,
            height: page.height,
            rotation: page.rotation,
            content: DocumentIdentity.random()
        )
    }
}

extension DocumentStore {
    /// Makes a blob of a file that the engine has made. 422 would be a lie where there is none: it is an error of the
    /// engine's.
    func adopt(_ place: TemporaryPath) throws -> Blob { try database.blobs.adopt(place) }
}

extension DocumentEngineError {
    /// The same where the engine was given only a part of the files; a fault of none of them is the only one's, where
    /// there was but one.
    func offset(by before: Int, onlyOf count: Int) -> DocumentEngineError {
        func moved(_ source: Int?) -> Int? { source.map { $0 + before } ?? (count == 1 ? before : nil) }
        return switch self {
        case .unsupported(let source): .unsupported(source: moved(source))
        case .damaged(let source): .damaged(source: moved(source))
        case .encrypted(let source): .encrypted(source: moved(source))
        case .tooManyBytes(let source, let limit): .tooManyBytes(source: moved(source), limit: limit)
        case .tooManyPixels(let source, let limit): .tooManyPixels(source: moved(source), limit: limit)
        case .tooManyPages(let source, let limit): .tooManyPages(source: moved(source), limit: limit)
        case .tooLarge(let source): .tooLarge(source: moved(source))
        case .timedOut(let source): .timedOut(source: moved(source))
        case .noGlyphs, .overloaded, .toolMissing: self
        }
    }
}
