import Concurrency
import Foundation
import HTTP
import HTTPTypes
import JSONValues
import Screens

/// The first screen of a cold start, and the pages of the onboarding.
struct Onboarding: Sendable {
    let store: DiskStore
    let logins: [Action]

    /// `GET /v1/disk/launch`: the onboarding until it was seen, then the login, or home with a session.
    @Sendable func launch(_ request: ScreenRequest, _ session: Session?) async throws -> ScreenResponse {
        let route = try await store.isOnboardingSeen() ? Self.next(session) : .diskOnboarding
        return try .local(LaunchScreen(route: route, logins: logins), "disk.launch", request)
    }

    /// `GET /v1/disk/onboarding`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session?) async throws -> ScreenResponse {
        try await screen(request, session)
    }

    /// `PUT /v1/disk/onboarding`: `{"seen": true}` when Next is pressed on the last page.
    @Sendable func set(_ request: ScreenRequest, _ session: Session?) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        guard let isSeen = fields.values["seen"]?.bool else {
            throw Problem.validation(
                "/seen",
                fields.values["seen"] == nil ? "required" : "invalid",
                "seen must be true or false."
            )
        }
        return try await change(to: isSeen, request, session)
    }

    /// `DELETE /v1/disk/onboarding`: as if the app was newly installed.
    @Sendable func reset(_ request: ScreenRequest, _ session: Session?) async throws -> ScreenResponse {
        try await change(to: false, request, session)
    }

    /// `GET /v1/disk/onboarding/{id}/image`: the picture of a page.
    @Sendable func picture(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("id")
        guard let page = OnboardingPage(rawValue: id) else {
            throw Problem.notFound("The onboarding has no page \(id).")
        }
        return .localPicture(page.picture, type: "image/png", changeToken: .unlimited)
    }

    private func change(to isSeen: Bool, _ request: ScreenRequest, _ session: Session?) async throws -> ScreenResponse {
        let version = Self.version(isSeen: try await store.isOnboardingSeen())
        try request.writePreconditions().check(version: version)
        try await store.setOnboardingSeen(isSeen)
        return try await screen(request, session)
    }

    private func screen(_ request: ScreenRequest, _ session: Session?) async throws -> ScreenResponse {
        let isSeen = try await store.isOnboardingSeen()
        let screen = OnboardingScreen(seen: isSeen, route: Self.next(session))
        var response = try ScreenResponse.local(screen, "disk.onboarding", request)
        response.version = String(Self.version(isSeen: isSeen))
        return response
    }

    /// The screen after the onboarding.
    private static func next(_ session: Session?) -> ScreenLink {
        session.map(ScreenLink.diskHome) ?? .login(to: DiskApp.name)
    }

    /// The version with which the entity tag of the onboarding begins.
    private static func version(isSeen: Bool) -> Int { isSeen ? 1 : 0 }
}

enum OnboardingPage: String, CaseIterable, Sendable {
    case documents, offline, sharing

    var text: Text {
        switch self {
        case .documents: .allDocuments
        case .offline: .withoutInternet
        case .sharing: .shareWithOthers
        }
    }

    /// The picture of the page, a PNG of 480 by 480 pixels.
    var picture: Data {
        switch self {
        case .documents: Data(PackageResources.onboarding_documents_png)
        case .offline: Data(PackageResources.onboarding_offline_png)
        case .sharing: Data(PackageResources.onboarding_sharing_png)
        }
    }
}
