import Freshness
import HTTPTypes
import Screens
import Upstream

/// The cold start of the app: which screen comes first, and the pages of the onboarding.
struct Onboarding: Sendable {
    let store: DiskStore
    let sessions: SessionStore
    let clock: WallClock

    /// `GET /v1/disk/launch`: the onboarding until it was seen, then the login, or home with a session.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        let isLoggedIn = try isLoggedIn(request)
        let route: DiskLaunchScreen.Route = try store.isOnboardingSeen() ? (isLoggedIn ? .home : .login) : .onboarding
        return try request.local(DiskLaunchScreen(route: route), "disk.launch", now: clock.now())
    }

    /// `GET /v1/disk/onboarding`.
    @Sendable func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        try screen(request)
    }

    /// `PUT /v1/disk/onboarding`: `{"seen": true}` when Next is pressed on the last page.
    @Sendable func set(_ request: ScreenRequest) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        guard case .bool(let isSeen) = fields.values["seen"] else {
            throw Problem.validation([
                .field("/seen", fields.values["seen"] == nil ? "required" : "invalid", "seen must be true or false.")
            ])
        }
        try await store.setOnboardingSeen(isSeen)
        return try screen(request)
    }

    /// `DELETE /v1/disk/onboarding`: as if the app was newly installed.
    @Sendable func reset(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await store.setOnboardingSeen(false)
        return try screen(request)
    }

    private func screen(_ request: ScreenRequest) throws -> ScreenResponse {
        let isLoggedIn = try isLoggedIn(request)
        let screen = OnboardingScreen(seen: try store.isOnboardingSeen(), isLoggedIn: isLoggedIn)
        return try request.local(screen, "disk.onboarding", now: clock.now())
    }

    private func isLoggedIn(_ request: ScreenRequest) throws -> Bool {
        try sessions.knownSession(of: request.credential, app: DiskApp.name) != nil
    }
}
