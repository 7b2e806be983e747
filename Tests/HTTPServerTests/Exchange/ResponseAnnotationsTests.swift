import Freshness
import Testing

@testable import HTTPServer
@testable import HTTPTypes

@Suite struct ResponseAnnotationsTests {
    @Test("Annotations can be taken once")
    func once() {
        let annotations = ResponseAnnotations()
        annotations.update { $0.changeToken = .unlimited }
        #expect(annotations.take().changeToken != nil)
        #expect(annotations.take().changeToken == nil)
    }

    @Test("A response without a change token or a record has no ticket of the cache")
    func tickets() {
        let labels = RequestLabels(method: .get, route: "/", status: 200)
        let record = RequestRecord(method: .get, path: "/", status: 200, measurements: RequestMeasurements(labels))
        var values = ResponseAnnotations.Values()
        #expect(ResponseCache.Ticket(values) == nil)
        values.record = record
        #expect(ResponseCache.Ticket(values) == nil)
        values.changeToken = .unlimited
        #expect(ResponseCache.Ticket(values)?.keepsDate == false)
        values.originDate = "Tue, 15 Nov 1994 08:12:31 GMT"
        #expect(ResponseCache.Ticket(values)?.keepsDate == true)
    }

    @Test("The task that serves a connection has its annotations, and no other task")
    func taskLocal() {
        let annotations = ResponseAnnotations()
        #expect(ResponseAnnotations.ofConnection == nil)
        ResponseAnnotations.$ofConnection.withValue(annotations) {
            #expect(ResponseAnnotations.ofConnection === annotations)
        }
        #expect(ResponseAnnotations.ofConnection == nil)
    }
}
