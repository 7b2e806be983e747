package import Screens

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
