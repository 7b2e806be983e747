import Media
package import Screens
package import Storage

extension PDFApp {
    package static let problems: [ProblemCode] = [.lastPage, .notSaved, .nothingToUndo]
    package static let records = [
        RecordTable("pdf_document") { _ = try Document(row: $0, pages: []) },
        RecordTable("pdf_page", of: DocumentPage.self),
        RecordTable("pdf_version", of: DocumentVersion.self),
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
        "days for which deleted documents can be restored, and changes undone; 0 for neither"
    )
    static let quota = Setting(
        "pdf.quota_mb",
        .mebibytes(0...1_073_741_824),
        default: 10_240 << 20,
        "what the documents of a profile may take, drafts and those in the trash included, in MiB; "
            + "earlier versions of documents fill what is left"
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
    package static let settings: [any SettingDeclaration] = [
        files, uploadBytes, draftLifetime, trashLifetime, quota, keepsMetadata, thumbnailBytes,
    ]
}

/// The settings, and the limits of all work on pictures and documents.
struct PDFOptions: Sendable {
    let settings: SettingValues
    private let media: MediaLimits

    init(_ settings: SettingValues, _ media: MediaLimits) {
        (self.settings, self.media) = (settings, media)
    }

    /// Bytes of one file.
    var maximumFileBytes: Int { max(media.pictureBytes, media.pdfBytes) }
    /// Pages of one document.
    var maximumPages: Int { media.pdfPages }
    /// Bytes of one text, in UTF-8.
    var maximumTextBytes: Int { media.textBytes }
    /// Largest width of a page's thumbnail, in pixels.
    var maximumWidth: Int { min(2000, media.pageWidth) }

    /// Whether deleted documents are moved to the trash, and changes can be undone.
    var hasTrash: Bool { settings[PDFApp.trashLifetime] > .zero }

    func quota(of profile: String) -> StorageQuota {
        StorageQuota(bytes: settings[PDFApp.quota], of: .profile(profile))
    }

    /// Largest body with a text as JSON: every byte may be escaped as `\u00XX`.
    var textBodyBytes: Int { maximumTextBytes * 6 + 4096 }
    /// Largest body with a list of all pages: an id has 16 characters.
    var pageListBytes: Int { maximumPages * 24 + 4096 }
}

extension PDFApp {
    private typealias Label = ScreenForm.Label

    package static let screens = [
        ScreenForm("pdf.launch", .documents),
        ScreenForm(
            "pdf.welcome",
            .photosToPDF,
            [.name("title"), Label("text"), Label("features")]
        ),
        ScreenForm("pdf.list", .documents, tab: "/v1/pdf/documents", search: "/v1/pdf/documents", document),
        ScreenForm("pdf.drafts", Text("Drafts", ru: "Черновики"), tab: "/v1/pdf/drafts", document + [draftUntil]),
        ScreenForm("pdf.trash", .trash, tab: "/v1/pdf/trash", document + Label.ofTrash),
        ScreenForm("pdf.reader", .documentName, reader),
        ScreenForm(
            "pdf.created",
            .newDocument,
            [.name("name")] + reader + [Label("documents", .documents), Label("notices")]
        ),
    ]

    private static let document: [Label] = [.name("name"), .picture("thumbnail_url")] + properties

    private static let properties: [Label] = [
        Label("page_count_text"), Label("size_text", .size),
        Label("created_text", .created),
    ]

    private static let reader: [Label] =
        properties + [
            Label("status_text"), draftUntil, Label("text"),
            Label("file_url", nil, .link), Label("pages", .pages), .name("number_text"),
            .picture("thumbnail_url"), Label("missing_characters"), Label("notices"),
            Label("disk_path"),
        ]

    private static let draftUntil = Label("draft_until_text", Text("Kept until", ru: "Хранится до"))
}

extension DocumentScreen: TitledScreen {
    var screenTitle: Text? { Text(verbatim: properties.name) }
}
