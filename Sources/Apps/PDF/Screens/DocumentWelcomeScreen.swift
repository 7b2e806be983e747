import Screens

extension LaunchScreen {
    /// The welcome until it was seen, then the saved documents.
    init(isWelcomeSeen: Bool) {
        if isWelcomeSeen {
            self.init(route: ScreenLink("pdf.list", "/v1/pdf/documents"))
        } else {
            self.init(route: ScreenLink("pdf.welcome", "/v1/pdf/welcome"))
        }
    }
}

/// `GET` and `PUT /v1/pdf/welcome`: what the app can do, shown once.
struct DocumentWelcomeScreen: Encodable, Sendable {
    struct Feature: Encodable, Sendable {
        let id: String
        let title: Text
        let text: Text
    }

    let title = Text.photosToPDF
    let text = Text.staysHere
    let features = [
        Feature(
            id: "create",
            title: .welcomeCreate,
            text: .welcomeCreateHint
        ),
        Feature(
            id: "read",
            title: .welcomeRead,
            text: .welcomeReadHint
        ),
        Feature(
            id: "edit",
            title: .welcomeEdit,
            text: .welcomeEditHint
        ),
        Feature(id: "keep", title: .welcomeKeep, text: .welcomeKeepHint),
    ]
    let button = Text.getStarted
    let actions = [
        Action(
            id: "finish",
            title: .getStarted,
            method: "PUT",
            href: "/v1/pdf/welcome",
            body: ["seen": .boolean(true)]
        )
    ]
    /// Whether it was shown before.
    let seen: Bool

    private enum CodingKeys: CodingKey { case title, text, features, button, actions, seen }
}
