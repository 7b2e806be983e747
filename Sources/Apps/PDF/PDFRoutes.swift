import HTTPTypes
public import Screens

/// The PDF app over HTTP: the table, and nothing else.
public struct PDFRoutes: Sendable {
    private let service: DocumentService

    /// Routes to a service.
    public init(service: DocumentService) {
        self.service = service
    }

    /// The table.
    public var routes: [Route] {
        let documents = "/v1/pdf/documents"
        let document = "\(documents)/{id}"
        return [
            Route(.get, "/v1/pdf/launch", "pdf.launch", service.launch),
            Route(.get, "/v1/pdf/welcome", "pdf.welcome", service.welcome),
            Route(.put, "/v1/pdf/welcome", "pdf.welcome", service.noteWelcome),
            Route(.get, documents, "pdf.list", service.list),
            Route(.post, documents, "pdf.created", service.create),
            Route(.get, document, "pdf.reader", service.reader),
            Route(.patch, document, "pdf.reader", service.rename),
            Route(.delete, document, "pdf.list", service.delete),
            Route(.post, "\(document)/save", "pdf.reader", service.save),
            Route(.get, "\(document)/file", "pdf.file", service.file),
            Route(.get, "\(document)/thumbnail", "pdf.thumbnail", service.documentThumbnail),
            Route(
                .post,
                "\(document)/pages",
                "pdf.reader",
                maximumBodyBytes: service.options.textBodyBytes,
                service.addText
            ),
            Route(
                .put,
                "\(document)/pages/order",
                "pdf.reader",
                maximumBodyBytes: service.options.pageListBytes,
                service.reorder
            ),
            Route(.patch, "\(document)/pages/{page_id}", "pdf.reader", service.rotate),
            Route(.delete, "\(document)/pages/{page_id}", "pdf.reader", service.deletePage),
            Route(.get, "\(document)/pages/{page_id}/thumbnail", "pdf.thumbnail", service.pageThumbnail),
            Route(
                .post,
                "\(document)/extract",
                "pdf.reader",
                maximumBodyBytes: service.options.pageListBytes,
                service.extract
            ),
            Route(.post, "/v1/pdf/merge", "pdf.reader", service.merge),
        ] + diskRoutes
    }

    /// What takes a session of the Disk app, where there is one.
    private var diskRoutes: [Route] {
        guard let disk = service.disk else { return [] }
        let member = Route.Access.session(app: disk.app)
        return [
            Route(.post, "/v1/pdf/documents/from-disk", "pdf.created", access: member, service.createFromDisk),
            Route(.post, "/v1/pdf/documents/{id}/save-to-disk", "pdf.reader", access: member, service.saveToDisk),
        ]
    }
}
