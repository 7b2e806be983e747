import Hummingbird
import Screens

/// Responds to requests by the routes of the server, through its harness if it has one.
struct LarderResponder: HTTPResponder {
    let routes: RouterResponder<ScreenContext>
    /// Nil for a server without `--sandbox` and `--harness`: its requests pay nothing for it.
    let harness: Harness?

    func respond(to request: Request, context: ScreenContext) async throws -> Response {
        if let harness { return try await harness.respond(to: request, context) }
        return try await routes.respond(to: request, context: context)
    }
}
