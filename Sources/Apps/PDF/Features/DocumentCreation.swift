import Concurrency
import Foundation
import HTTPTypes
import Media
import Screens
import Server
import Storage
import Synchronization

/// Makes drafts of uploaded files.
struct DocumentCreation: Sendable {
    let pdf: PDF

    /// `POST /v1/pdf/documents`: files become a draft, or a draft each.
    @Sendable func create(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let parameters = try PageParameters(request.query, pdf.options)
        let isSeparate = try Self.isSeparate(request.query)
        try await checkRoom(request, profile: profile)
        let files = try await UploadedFiles.read(request, pdf).files
        return try await create(isSeparate ? files.map { [$0] } : [files], parameters, request, profile: profile)
    }

    /// Checks the conditions of a creation, before its files are read.
    ///
    /// - Throws: ``Problem``, 412 `precondition-failed`, 507 `quota-exceeded`.
    func checkRoom(_ request: ScreenRequest, profile: String) async throws {
        try await pdf.store.catchUpToChange()
        try request.writePreconditions().check(version: try pdf.store.revision(profile: profile))
        try pdf.options.quota(of: profile).checkPages(beside: try pdf.store.usage(profile: profile))
    }

    /// Reads the query parameter `mode`.
    ///
    /// - Throws: ``Problem``, 400.
    private static func isSeparate(_ query: QueryItems) throws -> Bool {
        let mode = try query.string("mode") ?? "single"
        guard ["single", "separate"].contains(mode) else {
            throw Problem.invalidParameter("mode", accepted: "accepts single or separate")
        }
        return mode == "separate"
    }

    /// Makes a draft of each batch of files: all of them, or none.
    func create(
        _ batches: [[SourceFile]],
        _ parameters: PageParameters,
        _ request: ScreenRequest,
        profile: String
    ) async throws -> ScreenResponse {
        let created = pdf.clock.now()
        let files = Array(batches.joined())
        let standard = DocumentName.Standard(at: created, in: try request.query.timeZone(), Language.current)
        return try await pdf.jobs.run(request, titles: files.map(\.title)) { progress in
            // A file has its name as title, so that it is made again if another server has taken the name meanwhile.
            try await pdf.lookup.retrying {
                try await naming(batches, standard, created, profile: profile) { names, defaultNames in
                    let made = try await make(batches, names, parameters, progress)
                    let texts = made.flatMap(\.notices).map { FileNotice($0, files) }
                    return try await request.answering {
                        try response($0, texts, profile: profile)
                    } to: {
                        try await pdf.store.insert(
                            made.map(\.document),
                            defaultNames: defaultNames,
                            profile: profile,
                            created: created,
                            draftUntil: pdf.clock.now() + pdf.options.settings[PDFApp.draftLifetime].seconds,
                            quota: pdf.options.quota(of: profile)
                        )
                    }.response
                }
            }
        }
    }

    /// Calls a function with the names of new documents, and those of them that are default names.
    private func naming<Result>(
        _ batches: [[SourceFile]],
        _ standard: DocumentName.Standard,
        _ created: Date,
        profile: String,
        _ body: (_ names: [String], _ defaultNames: Set<String>) async throws -> Result
    ) async throws -> Result {
        let imported = batches.map(Self.imported)
        let taken = try pdf.store.names(profile: profile, around: created).union(imported.compactMap(\.self))
        let count = imported.count { $0 == nil }
        return try await pdf.defaultNames.holding(count, of: standard, besides: taken, profile: profile) { free in
            var next = free.makeIterator()
            return try await body(imported.compactMap { $0 ?? next.next() }, Set(free))
        }
    }

    private func response(_ documents: [DocumentStore.Changed], _ notices: [FileNotice], profile: String) throws
        -> ScreenResponse
    {
        guard let first = documents.first,
            case let conditions = pdf.lookup.conditions(beside: first.usage, profile),
            let screen = DocumentCreationScreen(documents.map(\.document), notices: notices, conditions)
        else { throw Problem(.internal, "No document was made.") }
        return try .changed(first.document, as: screen, "pdf.created", conditions)
    }

    private func make(
        _ batches: [[SourceFile]],
        _ names: [String],
        _ parameters: PageParameters,
        _ progress: @escaping DocumentJobs.Progress
    ) async throws -> [DocumentMaker.Made] {
        var made: [DocumentMaker.Made] = []
        var before = 0
        do {
            for (index, batch) in batches.enumerated() {
                let share = { @Sendable (value: Double) in progress((Double(index) + value) / Double(batches.count)) }
                let job = DocumentMaker.Job(
                    files: batch,
                    before: before,
                    title: names[index],
                    options: parameters.pictures
                )
                made.append(try await pdf.maker.make(job, share))
                before += batch.count
            }
        } catch {
            for made in made { pdf.store.discard(made.document.file) }
            throw error
        }
        return made
    }

    /// Returns the name that a single PDF keeps; nil for others, which are named after their time.
    private static func imported(_ batch: [SourceFile]) -> String? {
        batch.count == 1 && batch[0].format == .pdf ? DocumentName.stem(of: batch[0].fileName) : nil
    }
}

extension SourceFile {
    /// Accepts a file that a client has sent or named.
    ///
    /// - Parameters:
    ///   - length: its bytes.
    ///   - index: its position among the files of the request.
    ///   - pointer: the field that names it, for the error.
    /// - Throws: ``Problem``, 422 if it is empty, 415 if its format is not accepted; Foundation's error if it cannot be
    ///   read.
    init(
        title: String,
        fileName: String?,
        length: Int,
        place: TemporaryPath,
        index: Int,
        pointer: String
    ) throws {
        guard length > 0 else { throw Problem(damagedFile: title, at: index) }
        let beginning = try FileBytes(URL(filePath: place.path)).bytes(0..<SourceFormat.signatureLength)
        guard let format = SourceFormat(signature: beginning) else {
            let detail = Text.otherType(title, SourceFormat.accepted)
            throw Problem(
                .unsupportedMediaType,
                detail,
                errors: [.field(pointer, "unsupported-media-type", detail)]
            )
        }
        self.init(title: title, fileName: fileName, format: format, place: place)
    }
}

struct UploadedFiles: Sendable {
    let form: UploadedForm
    let files: [SourceFile]

    /// Reads the body of a request.
    ///
    /// - Throws: ``Problem``: 400, 413, 415 as `uploadedForm(into:limits:)`, 422 without files or for an empty one, 415
    ///   for one whose format is not accepted.
    static func read(_ request: ScreenRequest, _ pdf: PDF) async throws -> UploadedFiles {
        let options = pdf.options
        let limits = UploadedForm.Limits(
            files: options.settings[PDFApp.files],
            fileBytes: options.maximumFileBytes,
            bodyBytes: options.settings[PDFApp.uploadBytes]
        )
        let form = try await request.uploadedForm(into: pdf.scratch, limits: limits)
        return UploadedFiles(form: form, files: try files(of: form))
    }

    private static func files(of form: UploadedForm) throws -> [SourceFile] {
        guard !form.files.isEmpty else {
            throw Problem.validation([.field("/files", "required", .noFiles)])
        }
        let password = form.fields.last { $0.name == "password" && !$0.value.isEmpty }?.value
        return try form.files.enumerated().map { index, file in
            var source = try SourceFile(
                title: file.title(at: index),
                fileName: file.fileName,
                length: file.length,
                place: file.place,
                index: index,
                pointer: "/files/\(index)"
            )
            source.password = password
            return source
        }
    }
}

/// The default names of documents that this server is making, which no row has yet.
final class DefaultNames: Sendable {
    private let held = Mutex<[String: Set<String>]>([:])

    /// Calls a function with names that no other call for the profile gets before it returns.
    ///
    /// - Parameter taken: the names that documents have.
    func holding<Result>(
        _ count: Int,
        of standard: DocumentName.Standard,
        besides taken: Set<String>,
        profile: String,
        _ body: ([String]) async throws -> Result
    ) async throws -> Result {
        let names = held.withLock { held in
            var taken = taken.union(held[profile] ?? [])
            let names = (0..<count).map { _ in standard.next(&taken) }
            held[profile, default: []].formUnion(names)
            return names
        }
        defer {
            held.withLock { held in
                held[profile]?.subtract(names)
                if held[profile]?.isEmpty == true { held[profile] = nil }
            }
        }
        return try await body(names)
    }
}

/// The query parameters of pages that are made of files: `page`, `margin_mm`, `quality`.
struct PageParameters: Sendable, Equatable {
    /// Points in a millimetre.
    private static let point = 72 / 25.4
    /// Widest margin: half of an A5 page stays for the picture.
    private static let widestMargin = 35

    let pictures: PictureOptions

    /// Reads the parameters.
    ///
    /// - Throws: ``Problem``, 400.
    init(_ query: QueryItems, _ options: PDFOptions) throws {
        let paper = try Self.choice("page", query, PageLayout.Paper.fit)
        let margin = try query.integer("margin_mm", in: 0...Self.widestMargin) ?? 0
        pictures = PictureOptions(
            layout: PageLayout(paper, margin: Double(margin) * Self.point),
            quality: try Self.choice("quality", query, PictureOptions.Quality.original),
            keepsMetadata: options.settings[PDFApp.keepsMetadata]
        )
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        _ query: QueryItems,
        _ standard: Choice
    ) throws -> Choice {
        guard let text = try query.string(name) else { return standard }
        guard let choice = Choice(rawValue: text) else {
            let accepted = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem.invalidParameter(name, accepted: "accepts one of \(accepted)")
        }
        return choice
    }
}
