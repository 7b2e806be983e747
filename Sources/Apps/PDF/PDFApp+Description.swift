package import Database
package import Screens
package import Settings

extension PDFApp {
    /// The problem codes of the app.
    package static let problems: [ProblemCode] = [.lastPage, .notSaved]
    package static let records = [
        RecordTable("pdf_document") { _ = try Document(row: $0, pages: []) },
        RecordTable("pdf_page", of: DocumentPage.self),
    ]

    static let files = Setting(
        "pdf.files",
        .integer(1...10_000),
        default: 200,
        "largest number of files in one upload of the PDF app"
    )
    static let uploadBytes = Setting(
        "pdf.upload_mb",
        .mebibytes(1...65_536),
        default: 500 << 20,
        "largest upload of the PDF app, in MiB"
    )
    static let draftLifetime = Setting(
        "pdf.draft_lifetime_s",
        .seconds(1...31_536_000),
        default: .days(1),
        "lifetime of an unsaved document after its last change"
    )
    static let trashLifetime = Setting(
        "pdf.trash_days",
        .days(0...3650),
        default: .days(30),
        "days for which deleted documents can be restored; 0 deletes them at once"
    )
    static let quota = Setting(
        "pdf.quota_mb",
        .mebibytes(0...1_073_741_824),
        default: 10_240 << 20,
        "what the documents of a profile may take, drafts and those in the trash included, in MiB"
    )
    static let keepsMetadata = Setting(
        "pdf.keep_metadata",
        .flag,
        default: false,
        "whether photos in documents keep their EXIF: time, camera, position of the photographer"
    )
    static let thumbnailBytes = Setting(
        "pdf.thumbnails_mb",
        .mebibytes(0...65_536),
        default: 64 << 20,
        "space for pictures of pages, in MiB; the least recently used is evicted first"
    )
    /// The settings of the app.
    package static let settings: [any SettingDeclaration] = [
        files, uploadBytes, draftLifetime, trashLifetime, quota, keepsMetadata, thumbnailBytes,
    ]
}
