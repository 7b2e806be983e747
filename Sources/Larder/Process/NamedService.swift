import ServiceLifecycle

/// A service by the name of its type: the lifecycle describes every service when it starts, with all that a service is
/// made of, which takes milliseconds and would put settings into the log.
struct NamedService: Service, CustomStringConvertible {
    private let service: any Service
    let description: String

    /// Names a service.
    init(_ service: any Service) {
        self.service = service
        description = "\(type(of: service))"
    }

    func run() async throws { try await service.run() }
}
