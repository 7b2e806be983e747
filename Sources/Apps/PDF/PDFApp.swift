package import Cluster
import Foundation
import HTTPTypes
import Logging
package import Screens
package import ServiceLifecycle
package import Storage

/// The PDF app: photos become documents that are read, edited, kept and shared. It has no upstream.
package struct PDFApp: App {
    package static let name = "pdf"
    package static let title = Text("Photos to PDF", ru: "Фото в PDF")
    package static let migrations = DocumentStore.migrations
    /// Its tables but those that each server derives from them.
    package static let replicated: JournalTables? = DocumentStore.replicated

    let pdf: PDF
    let thumbnails: DocumentThumbnails
    private let expiry: [ExpiryService]

    private var welcome: DocumentWelcome { DocumentWelcome(pdf: pdf) }
    private var library: DocumentLibrary { DocumentLibrary(pdf: pdf) }
    private var creation: DocumentCreation { DocumentCreation(pdf: pdf) }
    private var saving: DocumentSaving { DocumentSaving(pdf: pdf) }
    private var pages: PageEditing { PageEditing(pdf: pdf) }
    private var copying: PageCopying { PageCopying(pdf: pdf) }
    private var addition: PageAddition { PageAddition(pdf: pdf) }
    private var trash: DocumentTrash { DocumentTrash(pdf: pdf) }
    private var exchange: DiskExchange? { pdf.disk.map { DiskExchange(pdf: pdf, disk: $0) } }

    package init(_ context: AppContext) throws { self.init(context, PDF(context)) }

    init(_ context: AppContext, _ pdf: PDF) {
        self.pdf = pdf
        thumbnails = DocumentThumbnails(pdf: pdf)
        let trash = DocumentTrash(pdf: pdf)
        let purges: [(String, @Sendable (Date) async throws -> Int)] = [
            ("expired drafts", pdf.store.purgeDrafts(at:)), ("documents in the trash", trash.purgeDue(at:)),
            ("earlier versions", trash.purgeVersions(at:)),
        ]
        expiry = purges.map { ExpiryService(of: $0, by: context.retention, logger: context.logger, purge: $1) }
    }

    /// The saved documents of the profile, and the size of its documents.
    package var userData: UserData? {
        let (store, quota) = (pdf.store, pdf.options.quota(of:))
        return UserData {
            try DocumentArchive.add(store, of: $0.profile, to: $1)
        } usage: { owner in
            let (profile, stored) = (owner.profile, try store.usage(profile: owner.profile))
            return AppUsage(.documents, of: profile, stored, quota: quota(profile), trash: Trash.documents.href)
        }
    }

    package var services: [any Service] { expiry }

    package static var routes: [AppRoute<Self>] {
        let documents = "/v1/pdf/documents"
        let document = "\(documents)/{id}"
        let page = "\(document)/pages/{page_id}"
        let own = [
            Route(.get, "/v1/pdf/launch", "pdf.launch", { $0.welcome.launch }),
            Route(.get, "/v1/pdf/welcome", "pdf.welcome", { $0.welcome.show }),
            Route(.put, "/v1/pdf/welcome", "pdf.welcome", { $0.welcome.update }).answering().body("seen"),
            Route(.get, documents, "pdf.list", { $0.library.list }).query("q", .page, "tz"),
            Route(.post, documents, "pdf.created", { $0.creation.create })
                .answering().query("mode", "page", "margin_mm", "quality", "tz")
                .form("files", "password"),
            Route(.get, "/v1/pdf/drafts", "pdf.drafts", { $0.library.drafts }).query("tz"),
            Route(.get, document, "pdf.reader", { $0.library.reader }).query("tz"),
            Route(.patch, document, "pdf.reader", { $0.saving.rename }).answering().body("name"),
            Route(.delete, document, "pdf.list", { $0.saving.delete }).answering().query("permanently"),
            Route(.post, "\(document)/save", "pdf.reader", { $0.saving.save }).answering().body("name"),
            Route(.get, "\(document)/file", "pdf.file", { $0.library.file }).query("disposition"),
            Route(.get, "\(document)/thumbnail", "pdf.thumbnail", { $0.thumbnails.ofDocument }).query("width"),
            Route(.post, "\(document)/pages", "pdf.reader", { $0.addition.add })
                .bodyLimit { $0.pdf.options.textBodyBytes }.answering().query("page", "margin_mm", "quality")
                .body("text", "locale", "at")
                .form("at", "files", "password"),
            Route(.post, "\(document)/undo", "pdf.reader", { $0.pdf.editor.undo }).answering(),
            Route(.post, "\(document)/pages/delete", "pdf.reader", { $0.pages.deleteSome })
                .bodyLimit { $0.pdf.options.pageListBytes }.answering().body("pages"),
            Route(.put, "\(document)/pages/order", "pdf.reader", { $0.pages.reorder })
                .bodyLimit { $0.pdf.options.pageListBytes }.answering().body("pages"),
            Route(.patch, page, "pdf.reader", { $0.pages.rotate }).answering().body("rotate_by"),
            Route(.delete, page, "pdf.reader", { $0.pages.delete }).answering().query("permanently"),
            Route(.get, "\(page)/thumbnail", "pdf.thumbnail", { $0.thumbnails.ofPage }).query("width"),
            Route(.post, "\(document)/extract", "pdf.reader", { $0.copying.extract })
                .bodyLimit { $0.pdf.options.pageListBytes }.answering().body("pages", "name"),
            Route(.post, "/v1/pdf/merge", "pdf.reader", { $0.copying.merge }).answering()
                .body("first", "second", "documents", "name"),
        ]
        let bin = DocumentTrash.routes { method, path, handler in
            Route(method, path, Trash.documents.screen, { app in { try await handler(app.trash)($0, $0.profile()) } })
        }
        let restore = Route(.post, "/v1/pdf/trash/{id}/restore", "pdf.reader", { $0.trash.restore }).answering()
        return (own + bin + [restore] + diskRoutes).withProfiles()
    }

    /// The routes that need a session of the Disk app.
    private static var diskRoutes: [AppRoute<Self>] {
        let documents = "/v1/pdf/documents"
        return [
            Route(.post, "\(documents)/from-disk", "pdf.created", sessionOf: "disk", { $0.exchange?.importFile })
                .answering().query("page", "margin_mm", "quality").body("path"),
            Route(.post, "\(documents)/{id}/save-to-disk", "pdf.reader", sessionOf: "disk", { $0.exchange?.exportFile })
                .body("path"),
        ]
    }
}
