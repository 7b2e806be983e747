import Freshness
import Screens

/// The welcome, and which screen a cold start shows.
struct DocumentWelcome: Sendable {
    let store: DocumentStore

    /// `GET /v1/pdf/launch`: the welcome until it was seen, then the saved documents.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile: profile)
        let content = LaunchScreen(isWelcomeSeen: try store.isWelcomeSeen(profile: profile))
        return try .pdf(
            content,
            "pdf.launch",
            links: Links(self: request.selfLink),
            changeToken: changeToken)
    }

    /// `GET /v1/pdf/welcome`.
    @Sendable func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile: profile)
        return try screen(isSeen: try store.isWelcomeSeen(profile: profile), request, changeToken: changeToken)
    }

    /// `PUT /v1/pdf/welcome {"seen": true}`.
    @Sendable func update(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        guard case .bool(let isSeen) = try await request.jsonObject().values["seen"] else {
            throw Problem.validation([.field("/seen", "invalid", "seen must be true or false.")])
        }
        try await store.setWelcomeSeen(isSeen, profile: profile)
        return try screen(isSeen: isSeen, request, changeToken: nil)
    }

    private func screen(isSeen: Bool, _ request: ScreenRequest, changeToken: ChangeToken?) throws -> ScreenResponse {
        try .pdf(
            DocumentWelcomeScreen(seen: isSeen),
            "pdf.welcome",
            links: Links(self: request.selfLink),
            changeToken: changeToken)
    }
}
