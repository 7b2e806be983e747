import HTTPServer
import Screens

/// The files of an upload.
struct UploadedFiles: Sendable {
    let form: UploadedForm
    let files: [SourceFile]

    /// Reads the body of a request.
    ///
    /// - Throws: ``Problem``: 400, 413, 415 as `uploadedForm(into:limits:)`, 422 without files or for an empty one, 415
    ///   for one whose format is not accepted.
    static func read(_ request: ScreenRequest, _ maker: DocumentMaker, _ options: PDFApp.Options) async throws
        -> UploadedFiles
    {
        let limits = UploadedForm.Limits(
            files: options.maximumFiles,
            fileBytes: options.maximumFileBytes,
            bodyBytes: options.maximumUploadBytes
        )
        let form = try await request.uploadedForm(into: maker.scratch, limits: limits)
        return UploadedFiles(form: form, files: try files(of: form))
    }

    private static func files(of form: UploadedForm) throws -> [SourceFile] {
        guard !form.files.isEmpty else {
            throw Problem.validation([.field("/files", "required", .noFiles)])
        }
        return try form.files.enumerated().map { index, file in
            try SourceFile(
                title: file.title(at: index),
                fileName: file.fileName,
                length: file.length,
                place: file.place,
                index: index,
                pointer: "/files/\(index)"
            )
        }
    }
}
