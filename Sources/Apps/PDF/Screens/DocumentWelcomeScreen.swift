import Screens

extension LaunchScreen {
    /// The welcome until it was seen, then the saved documents.
    init(isWelcomeSeen: Bool) {
        if isWelcomeSeen {
            self.init(route: "list", href: "/v1/pdf/documents")
        } else {
            self.init(route: "welcome", href: "/v1/pdf/welcome")
        }
    }
}

/// `GET` and `PUT /v1/pdf/welcome`: what the app can do, shown once.
struct DocumentWelcomeScreen: Encodable, Sendable {
    struct Feature: Encodable, Sendable {
        let id: String
        let title: String
        let text: String
    }

    let title = "Photos to PDF"
    let text = "Everything stays on this server; nothing is sent anywhere."
    let features = [
        Feature(
            id: "create",
            title: "Photos become documents",
            text: "Pick photos from the gallery or from files: one document of all of them, or one each."
        ),
        Feature(
            id: "read",
            title: "Read and share",
            text: "Look through the pages and share the PDF, also before you save it."
        ),
        Feature(
            id: "edit",
            title: "Edit pages",
            text: "Delete, rotate, reorder or extract pages, and dictate text onto new ones."
        ),
        Feature(id: "keep", title: "Keep and merge", text: "Save documents, rename them and merge two into a new one."),
    ]
    let button = "Get started"
    /// Whether it was shown before.
    let seen: Bool

    private enum CodingKeys: CodingKey { case title, text, features, button, seen }
}
