import Foundation
package import HTTPServer

extension RouteTable {
    /// Returns the problem of a request that the connection layer refuses, in the language of its client as far as that
    /// is known.
    ///
    /// - Parameter head: The head of the request; nil if it has not arrived.
    package func content(of refusal: ConnectionRefusal, _ head: RefusedHead?) -> RefusalContent {
        let language = head.map {
            Language(acceptedBy: $0.acceptedLanguages, original: originalLanguage(of: $0.target))
        }
        let problem = Problem(ProblemCode(refusal.reason), Text(verbatim: refusal.detail))
        // A problem without fields of its own always encodes; an empty body would still carry the status.
        let bytes = Language.$current.withValue(language ?? .english) {
            (try? ProblemDocument(problem, instance: "").bytes()) ?? Data()
        }
        return RefusalContent(type: MediaType.problem, language: (language ?? .english).rawValue, body: Array(bytes))
    }
}
