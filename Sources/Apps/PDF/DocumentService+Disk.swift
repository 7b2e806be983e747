import Foundation
import Screens
import Storage
import Upstream

extension DocumentService {
    /// `POST /v1/pdf/documents/from-disk {"path"}`: a photo or PDF of the Disk becomes a draft.
    @Sendable func createFromDisk(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (profile, session, disk) = (try request.profile(), try request.requiredSession(), try requiredDisk())
        let (_, format) = try Self.wishes(request)
        let path = try Self.path(try await request.jsonObject())
        let fetched = try await Self.ofField { try await disk.fetch(path, session, scratch, options.maximumFileBytes) }
        let title = fetched.name
        guard fetched.file.length > 0 else { throw Problem(DocumentEngineError.damaged(source: 0), titles: [title]) }
        guard let kind = FileKind(of: Data(fetched.beginning)) else {
            let detail = "\(title) is none of the accepted types: \(FileKind.accepted)."
            throw Problem(.unsupportedMediaType, detail, errors: [.field("/path", "unsupported-media-type", detail)])
        }
        let ingredient = Ingredient(title: title, fileName: fetched.name, kind: kind, place: fetched.file.place)
        return try await create([ingredient], isSeparate: false, format: format, request, profile: profile)
    }

    /// `POST …/save-to-disk {"path"}`: the file of a document goes to the Disk.
    @Sendable func saveToDisk(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (profile, session, disk) = (try request.profile(), try request.requiredSession(), try requiredDisk())
        let path = try Self.path(try await request.jsonObject())
        let document = try document(request, profile: profile)
        let file = try store.database.blobs.reader(document.blob)
        let written = try await job(request) { _ in try await Self.ofField { try await disk.put(path, session, file) } }
        let href = DocumentScreen.href(document.id)
        return try screen(
            SavedToDiskScreen(document: DocumentScreen(document), diskPath: written),
            "pdf.reader",
            links: Links(self: href)
        )
    }

    private func requiredDisk() throws -> DiskFiles {
        guard let disk else { throw Problem.notFound("There is no Disk.") }
        return disk
    }

    /// To the Disk a path is a parameter; here it is a field of the body, and what is wrong with it 422
    /// (design/screens.md 7).
    private static func ofField<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let problem as Problem where problem.code == .invalidParameter && !problem.errors.isEmpty {
            throw Problem.validation(problem.errors.map { .field("/path", $0.code, "path \($0.detail).") })
        }
    }

    private static func path(_ fields: JSONFields) throws -> String {
        guard let path = try fields.string("path"), !path.isEmpty, path.utf8.count <= 32_760,
            !path.unicodeScalars.contains("\0")
        else {
            throw Problem.validation([.field("/path", "required", "path must be the path of a file on the Disk.")])
        }
        return path
    }
}
