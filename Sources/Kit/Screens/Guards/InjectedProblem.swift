import Hummingbird

extension Problem {
    /// The problem that every request of the current task gets in place of the response of its route: what a test wants
    /// a client to see. Everything around it is as with any problem: fields, language, log and metrics.
    @TaskLocal package static var injected: Problem?
}

/// Ends requests with the problem that a test injects.
struct InjectedProblemMiddleware: RouterMiddleware {
    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        if let problem = Problem.injected { throw problem }
        return try await next(request, context)
    }
}
