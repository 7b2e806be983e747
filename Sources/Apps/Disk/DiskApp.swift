import HTTPTypes
public import Screens

/// The Disk app over HTTP: the table, and nothing else.
public struct DiskRoutes: Sendable {
    private let service: DiskService

    /// Routes to a service.
    public init(service: DiskService) {
        self.service = service
    }

    /// The table.
    public var routes: [Route] {
        let member = Route.Access.session(app: "disk")
        return [
            Route(.get, "/v1/disk/launch", "disk.launch", service.launch),
            Route(.get, "/v1/disk/onboarding", "disk.onboarding", service.onboarding),
            Route(.put, "/v1/disk/onboarding", "disk.onboarding", service.setOnboarding),
            Route(.delete, "/v1/disk/onboarding", "disk.onboarding", service.resetOnboarding),
            Route(.post, "/v1/disk/session/authorization", "disk.session", service.beginAuthorization),
            Route(.post, "/v1/disk/session", "disk.session", service.openSession),
            Route(.get, "/v1/disk/session", "disk.session", access: member, service.showSession),
            Route(.delete, "/v1/disk/session", "disk.session", access: member, service.closeSession),
            Route(.get, "/v1/disk/profile", "disk.profile", access: member, service.profile),
            Route(.get, "/v1/disk/profile/chart.svg", "disk.profile", access: member, service.chart),
            Route(.get, "/v1/disk/recent", "disk.recent", access: member, service.recent),
            Route(.get, "/v1/disk/files", "disk.files", access: member, service.files),
            Route(.post, "/v1/disk/files/move", "disk.file", access: member, service.move),
            Route(.post, "/v1/disk/files/copy", "disk.file", access: member, service.copy),
            Route(.post, "/v1/disk/folders", "disk.file", access: member, service.makeFolder),
            Route(.get, "/v1/disk/published", "disk.published", access: member, service.published),
            Route(.delete, "/v1/disk/published", "disk.published", access: member, service.unpublish),
            Route(.get, "/v1/disk/search", "disk.search", access: member, service.search),
            Route(.get, "/v1/disk/file", "disk.file", access: member, service.file),
            Route(.patch, "/v1/disk/file", "disk.file", access: member, service.rename),
            Route(.delete, "/v1/disk/file", "disk.file", access: member, service.delete),
            Route(.get, "/v1/disk/file/content", "disk.content", access: member, service.content),
            Route(
                .put,
                "/v1/disk/file/content",
                "disk.content",
                access: member,
                maximumBodyBytes: .max,
                service.upload
            ),
            Route(.get, "/v1/disk/file/preview", "disk.preview", access: member, service.preview),
            Route(.get, "/v1/disk/file/page", "disk.page", access: member, service.page),
            Route(.get, "/v1/disk/file/pdf", "disk.pdf", access: member, service.document),
            Route(.post, "/v1/disk/links", "disk.file", access: member, service.makeLink),
            Route(.post, "/v1/disk/downloads", "disk.file", access: member, service.startDownload),
            Route(.get, "/v1/disk/downloads/{id}", "disk.file", access: member, service.showDownload),
            Route(.get, "/v1/disk/operations/{id}", "disk.operation", access: member, service.showOperation),
            Route(.get, "/v1/disk/trash", "disk.trash", access: member, service.trash),
            Route(.post, "/v1/disk/trash/restore", "disk.trash", access: member, service.restore),
        ]
    }
}
