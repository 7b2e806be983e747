extension FaultPlan {
    /// Reads a fault (`"slow(200)"`), or several that are combined (`["slow(200)","bandwidth(32)"]`, or one text).
    /// - Parameter field: the name of the member.
    init(_ value: JSONValue, field: String) throws(ControlProblem) {
        do throws(FaultSyntaxError) {
            if let text = value.string {
                try self.init(parsing: text)
                return
            }
            guard let values = value.array else { throw FaultSyntaxError(text: value.excerpt) }
            var faults: [Fault] = []
            for value in values {
                guard let text = value.string else { throw FaultSyntaxError(text: value.excerpt) }
                faults.append(try Fault(parsing: text))
            }
            try self.init(combining: faults)
        } catch {
            throw .fault(error, field: field)
        }
    }

    /// Reads the faults of some requests.
    init(ofRequests value: JSONValue, field: String) throws(ControlProblem) {
        let plan = try FaultPlan(value, field: field)
        do throws(FaultSyntaxError) {
            self = try plan.ofRequests()
        } catch {
            throw .fault(error, field: field)
        }
    }
}
