import Screens
import Upstream

extension DocumentService {
    /// `GET /v1/pdf/launch`: the welcome until it was seen, then the saved documents.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile: profile)
        let content = PDFLaunchScreen(isWelcomeSeen: try store.isWelcomeSeen(profile: profile))
        return try screen(content, "pdf.launch", links: Links(self: request.selfLink), changeToken: changeToken)
    }

    /// `GET /v1/pdf/welcome`.
    @Sendable func welcome(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile: profile)
        return try welcome(isSeen: try store.isWelcomeSeen(profile: profile), request, changeToken: changeToken)
    }

    /// `PUT /v1/pdf/welcome {"seen": true}`.
    @Sendable func noteWelcome(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        guard case .bool(let isSeen) = try await request.jsonObject().values["seen"] else {
            throw Problem.validation([.field("/seen", "invalid", "seen must be true or false.")])
        }
        try await store.setWelcomeSeen(isSeen, profile: profile)
        return try welcome(isSeen: isSeen, request, changeToken: nil)
    }

    private func welcome(isSeen: Bool, _ request: ScreenRequest, changeToken: ChangeToken?) throws -> ScreenResponse {
        try screen(
            WelcomeScreen(seen: isSeen),
            "pdf.welcome",
            links: Links(self: request.selfLink),
            changeToken: changeToken
        )
    }
}
