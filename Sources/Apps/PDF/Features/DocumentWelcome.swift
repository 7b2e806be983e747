import Concurrency
import JSONValues
import Screens

/// The welcome, and the first screen of a cold start.
struct DocumentWelcome: Sendable {
    let pdf: PDF

    /// `GET /v1/pdf/launch`: the welcome until it was seen, then the saved documents.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = pdf.store.changeToken(profile: profile)
        let banner = try await pdf.store.catchUp()
        let isSeen = try pdf.store.isWelcomeSeen(profile: profile)
        let list = ScreenLink("pdf.list", "/v1/pdf/documents")
        let welcome = ScreenLink("pdf.welcome", "/v1/pdf/welcome")
        return try .pdf(
            LaunchScreen(route: isSeen ? list : welcome),
            "pdf.launch",
            links: Links(self: request.selfLink),
            stale: banner,
            changeToken: changeToken
        )
    }

    /// `GET /v1/pdf/welcome`.
    @Sendable func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = pdf.store.changeToken(profile: profile)
        let banner = try await pdf.store.catchUp()
        let isSeen = try pdf.store.isWelcomeSeen(profile: profile)
        return try screen(isSeen: isSeen, request, stale: banner, changeToken: changeToken)
    }

    /// `PUT /v1/pdf/welcome {"seen": true}`.
    @Sendable func update(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        guard let isSeen = try await request.jsonObject().values["seen"]?.bool else {
            throw Problem.validation([.field("/seen", "invalid", "seen must be true or false.")])
        }
        try await pdf.store.catchUpToChange()
        let version = Self.version(isSeen: try pdf.store.isWelcomeSeen(profile: profile))
        try request.writePreconditions().check(version: version)
        return try await request.answering { (_: Void) in
            try screen(isSeen: isSeen, request, stale: nil, changeToken: nil)
        } to: {
            try await pdf.store.setWelcomeSeen(isSeen, profile: profile)
        }.response
    }

    private func screen(isSeen: Bool, _ request: ScreenRequest, stale banner: Banner?, changeToken: ChangeToken?) throws
        -> ScreenResponse
    {
        try ScreenResponse.pdf(
            DocumentWelcomeScreen(seen: isSeen),
            "pdf.welcome",
            links: Links(self: request.selfLink),
            stale: banner,
            changeToken: changeToken
        ).at(version: Self.version(isSeen: isSeen))
    }

    /// The version with which the entity tag of the welcome begins.
    private static func version(isSeen: Bool) -> Int { isSeen ? 1 : 0 }
}

/// `GET` and `PUT /v1/pdf/welcome`: the abilities of the app, shown once.
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
}
