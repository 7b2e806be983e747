import Database
import Foundation
import Freshness
import HTTPServer
import HTTPTypes
import Media
import Screens

/// Makes drafts of uploaded files.
struct DocumentCreation: Sendable {
    let maker: DocumentMaker
    let jobs: DocumentJobs
    let options: PDFApp.Options

    /// `POST /v1/pdf/documents`: files become a draft, or a draft each.
    @Sendable func create(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let (isSeparate, layout) = try Self.parameters(request)
        let limits = UploadedForm.Limits(
            parts: options.maximumFiles + 16,
            fileBytes: options.maximumFileBytes,
            bodyBytes: options.maximumUploadBytes
        )
        let form = try await request.uploadedForm(into: maker.scratch, limits: limits)
        let files = try files(of: form)
        return try await create(
            isSeparate ? files.map { [$0] } : [files],
            layout: layout,
            request,
            profile: profile
        )
    }

    /// Reads the query parameters `mode` and `page`.
    ///
    /// - Throws: ``Problem``, 400.
    static func parameters(_ request: ScreenRequest) throws -> (isSeparate: Bool, layout: PageLayout) {
        let mode = try request.query.string("mode") ?? "single"
        guard ["single", "separate"].contains(mode) else {
            throw Problem.invalidParameter("mode", accepted: "accepts single or separate")
        }
        let page = try request.query.string("page") ?? PageLayout.fit.rawValue
        guard let layout = PageLayout(rawValue: page) else {
            throw Problem.invalidParameter("page", accepted: "accepts fit or a4")
        }
        return (mode == "separate", layout)
    }

    private func files(of form: UploadedForm) throws -> [SourceFile] {
        guard form.files.count <= options.maximumFiles else {
            throw Problem(
                .tooLarge,
                "One request may bring \(options.maximumFiles) files at most, not \(form.files.count)."
            )
        }
        guard !form.files.isEmpty else {
            throw Problem.validation([.field("/files", "required", "The form has no files; at least one is needed.")])
        }
        return try form.files.enumerated().map { index, file in
            try SourceFile(
                title: file.title(at: index),
                fileName: file.fileName,
                beginning: file.beginning,
                length: file.length,
                place: file.place,
                index: index,
                pointer: "/files/\(index)"
            )
        }
    }

    /// Makes a draft of each batch of files: all of them, or none.
    func create(_ batches: [[SourceFile]], layout: PageLayout, _ request: ScreenRequest, profile: String) async throws
        -> ScreenResponse
    {
        let store = maker.store
        let created = jobs.lookup.clock.now()
        let documents = try await jobs.run(request, titles: batches.joined().map(\.title)) { progress in
            let made = try await make(batches, layout: layout, created: created, progress)
            return try await store.insert(
                made,
                profile: profile,
                created: created,
                draftUntil: jobs.lookup.clock.now().addingTimeInterval(options.draftLifetime.seconds)
            ).documents
        }
        guard let first = documents.first, let screen = DocumentCreationScreen(documents) else {
            throw Problem(.internal, "No document was made.")
        }
        return try .changed(first, as: screen, "pdf.created")
    }

    private func make(
        _ batches: [[SourceFile]],
        layout: PageLayout,
        created: Date,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> [DocumentStore.New] {
        var made: [DocumentStore.New] = []
        var before = 0
        do {
            for (index, batch) in batches.enumerated() {
                let name = Self.name(of: batch, number: index + 1, at: created)
                let share = { @Sendable (value: Double) in progress((Double(index) + value) / Double(batches.count)) }
                made.append(try await maker.make(batch, before: before, name: name, layout: layout, share))
                before += batch.count
            }
        } catch {
            for new in made { maker.store.database.blobs.discard(new.blob) }
            throw error
        }
        return made
    }

    /// A single PDF keeps its name; what is made of photos is named after its time.
    private static func name(of batch: [SourceFile], number: Int, at instant: Date) -> String {
        let imported = batch.count == 1 && batch[0].format == .pdf ? DocumentName.stem(of: batch[0].fileName) : nil
        return imported ?? DocumentName.standard(at: instant, number: number)
    }
}

extension SourceFile {
    /// Takes in a file that a client has sent or named.
    ///
    /// - Parameters:
    ///   - beginning: its first bytes; ``PictureFormat/signatureLength`` are enough.
    ///   - length: its bytes.
    ///   - index: its position among the files of the request.
    ///   - pointer: the field that names it, for the error.
    /// - Throws: ``Problem``, 422 if it is empty, 415 if its format is not accepted.
    init(
        title: String,
        fileName: String?,
        beginning: some Sequence<UInt8>,
        length: Int,
        place: TemporaryPath,
        index: Int,
        pointer: String
    ) throws {
        guard length > 0 else { throw Problem(damagedFile: title, at: index) }
        guard let format = SourceFormat(signature: beginning) else {
            let detail = "\(title) is none of the accepted types: \(SourceFormat.accepted)."
            throw Problem(
                .unsupportedMediaType,
                detail,
                errors: [.field(pointer, "unsupported-media-type", detail)]
            )
        }
        self.init(title: title, fileName: fileName, format: format, place: place)
    }
}
